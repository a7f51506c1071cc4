// SPDX-License-Identifier: GPL-2.0
/*
 * Hot tables of real samples. Some are of LULESH on a Sandy Bridge-EP, per CPU, with the source line as the code
 * address and the element of the variable as the data address. The others are from a recording of perf. $CORPUS
 * names the folder that has both.
 */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "hot_exact.h"
#include "replayed.h"

static struct hot_exact kinds[HOT_KINDS];

static void done(void)
{
	for (size_t kind = 0; kind < HOT_KINDS; kind++)
		hot_exact_done(&kinds[kind]);
}

TestSuite(hot_corpus, .fini = done);

static char *corpus_path(const char *name)
{
	const char *corpus = getenv("CORPUS");
	char *path;

	if (!corpus)
		cr_skip_test("CORPUS is not set: it names the folder with the recordings");
	cr_assert(asprintf(&path, "%s/%s", corpus, name) >= 0);
	return path;
}

/* Makes an address from a name: FNV-1a. */
static u64 place_of(const char *name)
{
	u64 hash = 0xcbf29ce484222325ULL;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3ULL;
	return hash >> 20 & ~(u64)0xfff;
}

/* variable,source,line,time,iter,latency,dataSource,cpu,node,index,... */
static void take_line(char *text)
{
	char *fields[10], *rest = text;
	u32 cpu;
	u64 latency;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		fields[i] = strsep(&rest, ",");
		cr_assert_not_null(fields[i]);
	}
	cpu = (u32)strtoul(fields[7], NULL, 10);
	latency = strtoul(fields[5], NULL, 10);
	cr_assert_lt(cpu, HOT_EXACT_CPUS);
	hot_exact_add(&kinds[HOT_CODE], cpu, place_of(fields[1]) + strtoul(fields[2], NULL, 10), latency, 0);
	hot_exact_add(&kinds[HOT_LINES], cpu, place_of(fields[0]) + 8 * strtoul(fields[9], NULL, 10), latency,
		      0);
}

static void begin(void)
{
	for (size_t kind = 0; kind < HOT_KINDS; kind++)
		hot_exact_begin(&kinds[kind], (enum hot_kind)kind, HOT_EXACT_CPUS, 4711 + kind);
}

static void check(const char *what)
{
	for (size_t kind = 0; kind < HOT_KINDS; kind++) {
		struct hot_recall recall = {0};
		size_t samples = kinds[kind].n;

		hot_exact_check(&kinds[kind], what, &recall);
		printf("%s, %s: %zu samples of %zu items, %llu above a 32nd, %llu found\n", what,
		       kind == HOT_CODE ? "code" : "lines", samples, kinds[kind].n,
		       (unsigned long long)recall.heavy, (unsigned long long)recall.found);
		cr_expect_eq(recall.found, recall.heavy);
	}
}

Test(hot_corpus, lulesh)
{
	_cleanup_free_ char *path = corpus_path("memaxes/lulesh-samples.csv");
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	size_t allocated = 0;

	cr_assert_not_null(file, "%s", path);
	begin();
	cr_assert_gt(getline(&line, &allocated, file), 0, "the line of headings");
	while (getline(&line, &allocated, file) > 0)
		take_line(line);
	cr_expect_eq(kinds[HOT_CODE].n, 15676);
	check("LULESH");
}

Test(hot_corpus, recording)
{
	_cleanup_free_ char *path = corpus_path("perf-data/skx-8173m.perf.data");
	const char *paths[] = {path};
	char *message;

	cr_assert_eq(replay_open(paths, 1, &replayed.replay, &message), 0, "%s", message);
	cr_assert_eq(replayed_all(1000), 0);
	begin();
	for (size_t i = 0; i < replayed.n; i++) {
		const struct sample *sample = &replayed.samples[i];

		cr_assert(sample->fields & SAMPLE_CODE_ADDRESS);
		cr_expect_geq(sample->code_address, 0x400000);
		hot_exact_add(&kinds[HOT_CODE], 0, sample->code_address, sample->latency, 0);
		hot_exact_add(&kinds[HOT_LINES], 0, sample->address, sample->latency, 0);
	}
	cr_expect_eq(kinds[HOT_CODE].n, 14);
	check("recording");
	replayed_clear();
}
