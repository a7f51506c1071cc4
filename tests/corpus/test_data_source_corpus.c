// SPDX-License-Identifier: GPL-2.0
/*
 * Compares data source values with perf's decoding of them. $CORPUS names the folder that has both. Only the
 * tables here map perf's words to ours.
 */
#include <criterion/criterion.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "pebsd/data_source.h"

struct word {
	const char *perf;
	int ours;
};

/* The field "LVL": the words of mem_lvl, joined by "or", with the word of mem_lvl_num last. */
static const struct word levels[] = {
	{"N/A", SOURCE_UNKNOWN},
	{"N/A hit", SOURCE_UNKNOWN},
	{"N/A or N/A", SOURCE_UNKNOWN},
	/* These values only name a place where the data was not. */
	{"L1 miss", SOURCE_UNKNOWN},
	{"L3 miss", SOURCE_UNKNOWN},
	{"PMEM miss", SOURCE_UNKNOWN},
	{"Remote RAM miss", SOURCE_UNKNOWN},
	/* These values name a place without a level. */
	{"Remote", SOURCE_UNKNOWN},
	{"core, same node", SOURCE_UNKNOWN},
	{"board", SOURCE_UNKNOWN},
	{"L1", SOURCE_L1},
	{"L1 hit", SOURCE_L1},
	{"L1 or L1 hit", SOURCE_L1},
	{"LFB/MAB", SOURCE_LFB},
	{"LFB/MAB hit", SOURCE_LFB},
	{"LFB/MAB or LFB/MAB hit", SOURCE_LFB},
	{"L2 hit", SOURCE_L2},
	{"L2 or L2 hit", SOURCE_L2},
	{"L3", SOURCE_L3},
	{"L3 hit", SOURCE_L3},
	{"L3 or L3 hit", SOURCE_L3},
	{"L4 hit", SOURCE_L4},
	/* AMD before Zen 4: a cache of this node, L3 or another core's. */
	{"L3 or Remote Cache (1 hop) hit", SOURCE_LOCAL_CACHE},
	{"Remote core, same node L2", SOURCE_LOCAL_CACHE},
	{"Remote Cache (1 hop)", SOURCE_REMOTE_CACHE},
	{"Remote Cache (1 hop) hit", SOURCE_REMOTE_CACHE},
	{"Remote Cache (2 hops)", SOURCE_REMOTE_CACHE},
	{"Remote Cache (2 hops) hit", SOURCE_REMOTE_CACHE},
	{"Remote Remote Cache (1 hop) or L3 hit", SOURCE_REMOTE_CACHE},
	{"Remote Any cache hit", SOURCE_REMOTE_CACHE},
	{"Remote L4 hit", SOURCE_REMOTE_CACHE},
	{"Remote socket, same board L1", SOURCE_REMOTE_CACHE},
	{"Remote node, same socket L3", SOURCE_REMOTE_CACHE},
	{"Remote board L1", SOURCE_REMOTE_CACHE},
	{"Remote board L2", SOURCE_REMOTE_CACHE},
	{"Remote board L3", SOURCE_REMOTE_CACHE},
	{"Local RAM", SOURCE_LOCAL_DRAM},
	{"Local RAM hit", SOURCE_LOCAL_DRAM},
	{"Local RAM or RAM hit", SOURCE_LOCAL_DRAM},
	{"RAM hit", SOURCE_LOCAL_DRAM},
	{"Remote core, same node RAM", SOURCE_LOCAL_DRAM},
	{"Remote RAM (1 hop)", SOURCE_REMOTE_DRAM},
	{"Remote RAM (2 hops)", SOURCE_REMOTE_DRAM},
	{"Remote RAM (1 hop) hit", SOURCE_REMOTE_DRAM},
	{"Remote RAM hit", SOURCE_REMOTE_DRAM},
	{"Remote Remote RAM (1 hop) or RAM hit", SOURCE_REMOTE_DRAM},
	{"Remote node, same socket RAM", SOURCE_REMOTE_DRAM},
	/* Nehalem to Broadwell, code 0x0b. */
	{"Remote Remote RAM (1 hop) or L3 hit", SOURCE_REMOTE_DRAM},
	{"PMEM", SOURCE_PMEM},
	{"PMEM hit", SOURCE_PMEM},
	{"Remote PMEM hit", SOURCE_PMEM},
	{"Remote node, same socket PMEM", SOURCE_PMEM},
	{"CXL", SOURCE_CXL},
	{"Remote node, same socket CXL", SOURCE_CXL},
	{"I/O", SOURCE_IO},
	{"I/O or I/O", SOURCE_IO},
	{"I/O or N/A hit", SOURCE_IO},
	{"Remote node, same socket I/O", SOURCE_IO},
	{"Uncached", SOURCE_UNCACHED},
	{"Uncached hit", SOURCE_UNCACHED},
	{"Uncached or N/A hit", SOURCE_UNCACHED},
};

static const struct word snoops[] = {
	{"N/A", SNOOP_NA},  {"None", SNOOP_NONE}, {"Miss", SNOOP_MISS}, {"None or Miss", SNOOP_MISS},
	{"Hit", SNOOP_HIT}, {"HitM", SNOOP_HITM}, {"Fwd", SNOOP_FWD},   {"Peer", SNOOP_PEER},
};

static const struct word tlbs[] = {
	{"N/A", TLB_NA},        {"N/A hit", TLB_HIT}, {"N/A miss", TLB_MISS},   {"L1", TLB_L1_HIT},
	{"L1 hit", TLB_L1_HIT}, {"L2", TLB_L2_HIT},   {"L2 hit", TLB_L2_HIT},   {"L1 or L2 hit", TLB_HIT},
	{"L2 miss", TLB_MISS},  {"Walker", TLB_WALK}, {"Walker hit", TLB_WALK},
};

static const struct word locks[] = {{"N/A", false}, {"No", false}, {"Yes", true}};

static const struct word blocks[] = {{"N/A", false}, {"Data", true}, {"Addr", true}, {"Data Addr", true}};

/* Lines of pairs.tsv that quote a comment in the kernel's or perf's tables, which names the level in prose. */
static const struct {
	const char *context; /* part of the line after its second column */
	const char *text;
	enum source source;
} comments[] = {
	{"", "ukn L3", SOURCE_UNKNOWN},
	{"", "L1 local", SOURCE_L1},
	{"", "L2 hit", SOURCE_L2},
	{"", "L3 hit", SOURCE_L3},
	{"", "L3 hit, snoop miss", SOURCE_L3},
	{"", "L3 hit, snoop hit", SOURCE_L3},
	{"", "L3 miss snoop hit", SOURCE_REMOTE_CACHE},
	{"dse=0xa", "L3 miss, shared", SOURCE_LOCAL_DRAM},
	{"dse=0xb", "L3 miss, shared", SOURCE_REMOTE_DRAM},
	{"", "uncached", SOURCE_UNCACHED},
	{"", "L3 miss|SNP N/A", SOURCE_UNKNOWN},
	{"", "L1 hit|SNP None", SOURCE_L1},
	{"", "L2 hit|SNP None", SOURCE_L2},
	{"", "L3 hit|SNP None", SOURCE_L3},
	{"", "L3 hit|SNP Hit", SOURCE_L3},
	{"", "RAM hit|SNP Hit", SOURCE_LOCAL_DRAM},
	/* perf's words for code 0x0b leave out the bit of remote RAM, which the value has. */
	{"dse=0xb", "Remote L3 hit|SNP Hit", SOURCE_REMOTE_DRAM},
	{"", "Uncached hit|SNP None", SOURCE_UNCACHED},
	{"", "N/AL4 hit", SOURCE_L4},
	{"", "N/ARemote L4 hit", SOURCE_REMOTE_CACHE},
	{"", "N/APMEM miss", SOURCE_UNKNOWN},
	{"", "FwdRemote RAM miss", SOURCE_UNKNOWN},
};

/* The table's texts are cut at this length, so the last field of a text this long may be incomplete. */
#define CUT_LENGTH 80

/*
 * Returns the meaning of perf's text. A text that may be cut is looked up as the beginning of a word. All words
 * that begin with it must have the same meaning.
 */
static int look_up(const struct word *words, size_t n, const char *text, bool cut)
{
	int found = -1;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(words[i].perf, text) == 0)
			return words[i].ours;
		if (!cut || strncmp(words[i].perf, text, strlen(text)) != 0)
			continue;
		cr_assert(found < 0 || found == words[i].ours, "\"%s\" is cut too short", text);
		found = words[i].ours;
	}
	cr_assert_geq(found, 0, "perf's word \"%s\" is in no table", text);
	return found;
}

static void trim(char *text)
{
	size_t length = strlen(text);

	while (length && text[length - 1] == ' ')
		text[--length] = '\0';
}

/* Checks one field of perf's text, which begins with the field's name. */
static void check_field(u64 value, const char *field, bool cut)
{
	const char *text = field + 3;

	while (*text == ' ')
		text++;
	if (strncmp(field, "LVL", 3) == 0)
		cr_expect_eq(data_source_source(value), look_up(levels, ARRAY_SIZE(levels), text, cut),
			     "%llx %s", (unsigned long long)value, field);
	else if (strncmp(field, "SNP", 3) == 0)
		cr_expect_eq(data_source_snoop(value), look_up(snoops, ARRAY_SIZE(snoops), text, cut),
			     "%llx %s", (unsigned long long)value, field);
	else if (strncmp(field, "TLB", 3) == 0)
		cr_expect_eq(data_source_tlb(value), look_up(tlbs, ARRAY_SIZE(tlbs), text, cut), "%llx %s",
			     (unsigned long long)value, field);
	else if (strncmp(field, "LCK", 3) == 0 && *text)
		cr_expect_eq(data_source_locked(value), look_up(locks, ARRAY_SIZE(locks), text, cut),
			     "%llx %s", (unsigned long long)value, field);
	else if (strncmp(field, "BLK", 3) == 0 && *text)
		cr_expect_eq(data_source_blocked(value), look_up(blocks, ARRAY_SIZE(blocks), text, cut),
			     "%llx %s", (unsigned long long)value, field);
}

static void check_decoded(u64 value, char *decoded)
{
	bool row_cut = strlen(decoded) >= CUT_LENGTH;
	char *rest = decoded;
	char *field;

	while ((field = strsep(&rest, "|"))) {
		trim(field);
		check_field(value, field, row_cut && !rest);
	}
}

static void check_comment(u64 value, const char *text, const char *context)
{
	for (size_t i = 0; i < ARRAY_SIZE(comments); i++) {
		if (strcmp(comments[i].text, text) != 0 || !strstr(context, comments[i].context))
			continue;
		cr_expect_eq(data_source_source(value), comments[i].source, "%llx %s",
			     (unsigned long long)value, text);
		return;
	}
	cr_assert_fail("\"%s\" (%s) is in no table", text, context);
}

/* Checks each row except the first. Returns how many rows had something to check. */
static size_t check_table(const char *name)
{
	const char *corpus = getenv("CORPUS");
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	size_t n = 0;

	if (!corpus)
		cr_skip_test("CORPUS is not set: it names the folder with the data source tables");
	cr_assert(asprintf(&path, "%s/data_src/%s", corpus, name) >= 0);
	file = fopen(path, "re");
	cr_assert_not_null(file, "cannot open %s", path);
	cr_assert_gt(getline(&line, &room, file), 0);
	while (getline(&line, &room, file) > 0) {
		char *rest = line;
		const char *hex = strsep(&rest, "\t");
		char *decoded = strsep(&rest, "\t");
		u64 value = strtoull(hex, NULL, 16);

		cr_assert_not_null(decoded, "%s", hex);
		/* The perf of this row does not know SNOOPX_PEER. The next row is from a newer perf. */
		if (rest && strstr(rest, "SNOOPX_PEER (before)"))
			continue;
		if (decoded[0] == '|')
			check_decoded(value, decoded);
		else if (rest && !strstr(rest, "fixture"))
			check_comment(value, decoded, rest);
		else
			continue; /* the value has no decoding */
		n++;
	}
	return n;
}

Test(data_source_corpus, constructed_values)
{
	cr_expect_eq(check_table("oracle.tsv"), 287);
}

Test(data_source_corpus, values_of_real_machines)
{
	cr_expect_eq(check_table("pairs.tsv"), 51);
}
