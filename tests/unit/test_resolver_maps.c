// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "fake_clock.h"
#include "symbols/resolver/resolver_maps.h"

TestSuite(maps, .init = fake_clock_stop);

static struct maps *read_text(const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	struct maps *maps = NULL;

	cr_assert_not_null(file);
	cr_assert_eq(maps_read(file, &maps), 0);
	(void)fclose(file);
	return maps;
}

Test(maps, a_line_is_parsed)
{
	char text[] =
		"7f0000001000-7f0000003000 r-xs 00002000 fe:1a 247498    /usr/lib/a\\012b c (deleted)\n";
	struct maps_line line;

	cr_assert_eq(maps_parse_line(text, &line), 0);
	cr_expect_eq(line.start, 0x7f0000001000);
	cr_expect_eq(line.end, 0x7f0000003000);
	cr_expect_eq(line.offset, 0x2000);
	cr_expect_eq(line.major, 0xfe);
	cr_expect_eq(line.minor, 0x1a);
	cr_expect_eq(line.inode, 247498);
	cr_expect_eq(line.protection, PROT_READ | PROT_EXEC);
	cr_expect(line.shared);
	cr_expect(line.deleted);
	cr_expect_str_eq(line.path, "/usr/lib/a\nb c");
}

Test(maps, lines_without_a_path_or_a_file_are_parsed)
{
	char anonymous[] = "1000-2000 rw-p 00000000 00:00 0 \n";
	char bare[] = "1000-2000 rw-p 00000000 00:00 0";
	char heap[] = "1000-2000 rw-p 00000000 00:00 0          [heap]\n";
	struct maps_line line;

	cr_assert_eq(maps_parse_line(anonymous, &line), 0);
	cr_expect_str_eq(line.path, "");
	cr_assert_eq(maps_parse_line(bare, &line), 0);
	cr_expect_str_eq(line.path, "");
	cr_assert_eq(maps_parse_line(heap, &line), 0);
	cr_expect_str_eq(line.path, "[heap]");
	cr_expect_not(line.deleted);
}

Test(maps, malformed_lines_are_refused)
{
	static const char *const lines[] = {
		"",
		"\n",
		"1000",
		"1000-2000",
		"2000-1000 rw-p 00000000 00:00 0 ",
		"1000-1000 rw-p 00000000 00:00 0 ",
		"-1000-2000 rw-p 00000000 00:00 0 ",
		" 1000-2000 rw-p 00000000 00:00 0 ",
		"1000-2000 rw",
		"1000-2000 rw-p",
		"1000-2000 rw-pp 00000000 00:00 0 ",
		"1000-11112222333344445 rw-p 00000000 00:00 0 ",
		"1000-2000 rw-p xyz 00:00 0 ",
		"1000-2000 rw-p 00000000 0000 0 ",
		"1000-2000 rw-p 00000000 100000000:00 0 ",
		"1000-2000 rw-p 00000000 00:00 ",
		"1000-2000 rw-p 00000000 00:00 -1 ",
		"1000-2000 rw-p 00000000 00:00 12x /file",
		"1000-2000 rw-p 00000000 00:00 99999999999999999999 /file",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_free_ char *text = strdup(lines[i]);
		struct maps_line line;

		cr_expect_eq(maps_parse_line(text, &line), -EINVAL, "\"%s\"", lines[i]);
	}
}

Test(maps, an_ended_process_has_no_mappings)
{
	FILE *file = fopen("/dev/null", "re");
	struct maps *maps;

	cr_assert_eq(maps_read(file, &maps), -ESRCH);
	(void)fclose(file);
}

Test(maps, addresses_are_found_and_files_are_shared)
{
	struct maps *maps = read_text("1000-2000 r--p 00000000 fe:00 7 /a\n"
				      "2000-4000 r-xp 00001000 fe:00 7 /a\n"
				      "3000-5000 rw-p 00000000 00:00 0 [overlaps]\n"
				      "no line\n"
				      "6000-7000 rw-p 00000000 00:00 0 [heap]\n");

	cr_assert_eq(maps->n, 3);
	cr_expect_eq(maps_find(maps, 0xfff), NULL);
	cr_expect_eq(maps_find(maps, 0x1000), &maps->mappings[0]);
	cr_expect_eq(maps_find(maps, 0x3fff), &maps->mappings[1]);
	cr_expect_eq(maps_find(maps, 0x4000), NULL);
	cr_expect_eq(maps_find(maps, 0x6fff), &maps->mappings[2]);
	cr_expect_eq(maps_find(maps, 0x7000), NULL);
	cr_expect_eq(maps->mappings[0].file, maps->mappings[1].file);
	cr_expect(maps->mappings[0].file->code);
	cr_expect_not(maps->mappings[2].file->code);
	maps_unref(maps);
}

Test(maps, mappings_beyond_the_maximum_are_dropped)
{
	FILE *file = tmpfile();
	struct maps *maps;

	cr_assert_not_null(file);
	for (unsigned long i = 1; i <= 100000; i++)
		(void)fprintf(file, "%lx-%lx r-xp 00000000 fe:00 %lu /%0200lu\n", i << 12, (i + 1) << 12, i,
			      i);
	rewind(file);
	cr_assert_eq(maps_read(file, &maps), 0);
	cr_expect_eq(maps->n, RESOLVER_MAPPINGS_MAX);
	cr_expect_not_null(maps->mappings[RESOLVER_MAPPINGS_MAX - 1].file);
	cr_expect_leq(maps_bytes(maps), 32UL << 20);
	maps_unref(maps);
	(void)fclose(file);
}

Test(maps, paths_are_bounded)
{
	_cleanup_free_ char *path = malloc(4001);
	FILE *file = tmpfile();
	struct maps *maps;

	cr_assert(file && path);
	memset(path, 'p', 4000);
	path[4000] = 0;
	for (unsigned long i = 1; i <= 5000; i++)
		(void)fprintf(file, "%lx-%lx r-xp 00000000 fe:00 %lu /%s%lu\n", i << 12, (i + 1) << 12, i,
			      path, i);
	rewind(file);
	cr_assert_eq(maps_read(file, &maps), 0);
	cr_expect_eq(maps->n, 5000);
	cr_expect_leq(maps->path_bytes, MAPS_PATH_BYTES_MAX);
	cr_expect_null(maps->mappings[4999].file);
	maps_unref(maps);
	(void)fclose(file);
}

Test(maps, old_mappings_are_kept_at_unmapped_addresses)
{
	struct maps *older = read_text("1000-2000 r-xp 00000000 fe:00 1 /a\n"
				       "3000-5000 r-xp 00000000 fe:00 2 /b\n"
				       "8000-9000 r-xp 00000000 fe:00 3 /c\n");
	struct maps *newer = read_text("4000-6000 r-xp 00000000 fe:00 4 /d\n"
				       "7000-8000 r-xp 00000000 fe:00 5 /e\n");
	_cleanup_(maps_unrefp) struct maps *both = NULL;

	cr_assert_eq(maps_merge(newer, older, &both), 0);
	cr_assert_eq(both->n, 4);
	cr_expect_str_eq(both->mappings[0].file->path, "/a");
	cr_expect_str_eq(both->mappings[1].file->path, "/d");
	cr_expect_str_eq(both->mappings[2].file->path, "/e");
	cr_expect_str_eq(both->mappings[3].file->path, "/c");
	maps_unref(older);
	maps_unref(newer);
}

/* A process with hot tables is read every few seconds. */
Test(maps, paths_that_are_read_again_take_no_more_memory)
{
	static const char text[] = "1000-2000 r--p 00000000 fe:00 1 /usr/lib/a\n"
				   "2000-3000 r-xp 00001000 fe:00 1 /usr/lib/a\n"
				   "4000-5000 r-xp 00000000 fe:00 2 /usr/lib/b\n";
	_cleanup_(maps_unrefp) struct maps *maps = read_text(text);
	const size_t bytes = maps->path_bytes;

	cr_expect_eq(bytes, 2 * sizeof("/usr/lib/a"));
	for (size_t i = 0; i < 3; i++) {
		_cleanup_(maps_unrefp) struct maps *newer = read_text(text);
		struct maps *both;

		cr_assert_eq(maps_merge(newer, maps, &both), 0);
		maps_unref(maps);
		maps = both;
		cr_assert_eq(maps->n, 3);
		cr_expect_eq(maps->path_bytes, bytes, "%zu after %zu", maps->path_bytes, i);
	}
}

/* The paths of all files that the process has mapped in turn exceed MAPS_PATH_BYTES_MAX, but not those of one time. */
Test(maps, a_file_that_replaces_many_others_has_its_path)
{
	_cleanup_(maps_unrefp) struct maps *maps = NULL;
	char path[4000];
	struct symbol_mapping mapping = {.start = 0x1000, .size = 0x1000, .path = path};

	cr_assert_eq(maps_new(&maps), 0);
	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (mapping.inode = 1; mapping.inode < 2 * MAPS_PATH_BYTES_MAX / sizeof(path); mapping.inode++) {
		cr_assert_eq(maps_enter(maps, &mapping), 0);
		cr_assert_eq(maps->n, 1);
		cr_assert_not_null(maps->mappings[0].file, "mapping %llu", (unsigned long long)mapping.inode);
	}
}

/*
 * The new mapping covers the start, the end or the middle of an old one, a whole one, all of them, or none.
 */
Test(maps, a_new_mapping_replaces_the_overlapped_ones)
{
	static const struct {
		u64 start, end;
		const char *expected;
	} cases[] = {
		{0x1000, 0x1800, "1000-1800 /n 0\n2000-4000 /a 1000\n6000-7000 /b 0\n"},
		{0x1000, 0x3000, "1000-3000 /n 0\n3000-4000 /a 2000\n6000-7000 /b 0\n"},
		{0x3000, 0x6000, "2000-3000 /a 1000\n3000-6000 /n 0\n6000-7000 /b 0\n"},
		{0x2800, 0x3000, "2000-2800 /a 1000\n2800-3000 /n 0\n3000-4000 /a 2000\n6000-7000 /b 0\n"},
		{0x1000, 0x9000, "1000-9000 /n 0\n"},
		{0x3000, 0x6800, "2000-3000 /a 1000\n3000-6800 /n 0\n6800-7000 /b 800\n"},
		{0x2000, 0x4000, "2000-4000 /n 0\n6000-7000 /b 0\n"},
		{0x8000, 0x9000, "2000-4000 /a 1000\n6000-7000 /b 0\n8000-9000 /n 0\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct maps *maps = read_text("2000-4000 r-xp 00001000 fe:00 1 /a\n"
					      "6000-7000 r-xp 00000000 fe:00 2 /b\n");
		struct symbol_mapping mapping = {
			.start = cases[i].start,
			.size = cases[i].end - cases[i].start,
			.path = "/n",
		};
		char text[512] = "";

		cr_assert_eq(maps_enter(maps, &mapping), 0);
		for (size_t j = 0; j < maps->n; j++) {
			const struct mapping *m = &maps->mappings[j];

			(void)sprintf(text + strlen(text), "%lx-%lx %s %lx\n", (unsigned long)m->start,
				      (unsigned long)m->end, m->file->path, (unsigned long)m->offset);
		}
		cr_expect_str_eq(text, cases[i].expected, "case %zu", i);
		maps_unref(maps);
	}
}

Test(maps, impossible_mappings_are_refused)
{
	_cleanup_(maps_unrefp) struct maps *maps = read_text("2000-4000 r-xp 00001000 fe:00 1 /a\n");
	struct symbol_mapping empty = {.start = 0x1000, .path = "/n"};
	struct symbol_mapping wraps = {.start = UINT64_MAX - 10, .size = 100, .path = "/n"};

	cr_expect_eq(maps_enter(maps, &empty), -EINVAL);
	cr_expect_eq(maps_enter(maps, &wraps), -EINVAL);
	cr_expect_eq(maps->n, 1);
}

Test(maps, a_too_slow_file_is_read_in_part)
{
	_cleanup_fclose_ FILE *file = tmpfile();
	_cleanup_(maps_unrefp) struct maps *maps = NULL;

	cr_assert_not_null(file);
	for (unsigned long i = 1; i <= 1000; i++)
		(void)fprintf(file, "%lx-%lx rw-p 00000000 00:00 0\n", i << 12, (i + 1) << 12);
	rewind(file);
	fake_clock_tick(MAPS_READ_NS / 100);
	cr_assert_eq(maps_read(file, &maps), 0);
	/* The clock is looked at once before the first line, and before each line. */
	cr_expect_eq(maps->n, 99);
}
