// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/glob.h"

Test(glob, patterns_match_as_the_contract_says)
{
	cr_expect(glob_match("/**", "/system.slice/nginx.service"));
	cr_expect(glob_match("/**", "/"));
	cr_expect(glob_match("/system.slice/postgres*.service", "/system.slice/postgresql@15-main.service"));
	cr_expect(glob_match("/system.slice/postgres*.service", "/system.slice/postgres.service"));
	cr_expect_not(glob_match("/system.slice/postgres*.service", "/system.slice/postgres/x.service"));
	cr_expect_not(glob_match("/system.slice/postgres*.service", "/system.slice/postgres.service/x"));
	cr_expect(glob_match("/user.slice/**", "/user.slice/user-0.slice/session-1.scope"));
	cr_expect_not(glob_match("/user.slice/**", "/user.slice"));
	cr_expect(glob_match("**.service", "/a/b/c.service"));
	cr_expect(glob_match("/a/**/c", "/a/b/b/c"));
	cr_expect_not(glob_match("/a/**/c", "/a/c"));
}

Test(glob, a_question_mark_matches_one_byte_except_a_slash)
{
	cr_expect(glob_match("/a?c", "/abc"));
	cr_expect_not(glob_match("/a?c", "/a/c"));
	cr_expect_not(glob_match("/a?c", "/ac"));
}

Test(glob, other_bytes_are_not_special)
{
	cr_expect(glob_match("/system-getty\\x2d1.slice", "/system-getty\\x2d1.slice"));
	cr_expect_not(glob_match("/[ab]", "/a"));
	cr_expect(glob_match("/[ab]", "/[ab]"));
	cr_expect(glob_match("", ""));
	cr_expect_not(glob_match("", "/"));
	cr_expect_not(glob_match("/", ""));
}

/* Follows the definition literally, at exponential cost. NOLINTNEXTLINE(misc-no-recursion) */
static bool match_slowly(const char *pattern, const char *path)
{
	if (!*pattern)
		return !*path;
	if (pattern[0] == '*' && pattern[1] == '*')
		return match_slowly(pattern + 2, path) || (*path && match_slowly(pattern, path + 1));
	if (pattern[0] == '*')
		return match_slowly(pattern + 1, path) ||
		       (*path && *path != '/' && match_slowly(pattern, path + 1));
	return *path && (*pattern == *path || (*pattern == '?' && *path != '/')) &&
	       match_slowly(pattern + 1, path + 1);
}

/* Writes word number `index` over `alphabet`. The numbers enumerate all words, the shorter ones first. */
static void nth_word(size_t index, const char *alphabet, char *ret)
{
	size_t letters = strlen(alphabet);

	for (; index; index = (index - 1) / letters)
		*ret++ = alphabet[(index - 1) % letters];
	*ret = '\0';
}

Test(glob, every_short_pattern_agrees_with_the_definition)
{
	size_t patterns = 1 + 4 + 16 + 64 + 256 + 1024 + 4096;
	size_t paths = 1 + 3 + 9 + 27 + 81;
	size_t matches = 0;

	for (size_t i = 0; i < patterns; i++)
		for (size_t j = 0; j < paths; j++) {
			char pattern[16];
			char path[16];

			nth_word(i, "*/?a", pattern);
			nth_word(j, "/ab", path);
			cr_assert_eq(glob_match(pattern, path), match_slowly(pattern, path), "%s on %s",
				     pattern, path);
			matches += glob_match(pattern, path);
		}
	cr_expect_gt(matches, 1000);
}

/*
 * glob_match() keeps one bit for each place of the pattern, in words of 64 bits. Here the stars are at the
 * end of the first word or at the beginning of the second.
 */
Test(glob, long_patterns_agree_with_the_definition)
{
	for (size_t n = 58; n < 70; n++)
		for (size_t stars = 0; stars <= 3; stars++) {
			char pattern[128] = "", path[128] = "";

			memset(pattern, 'a', n);
			memset(path, 'a', n);
			memset(pattern + n, '*', stars);
			memcpy(pattern + n + stars, "ab", 3);
			for (size_t rest = 0; rest < 3; rest++) {
				memcpy(path + n, (const char[][5]){"ab", "xaab", "/ab"}[rest], 5);
				cr_expect_eq(glob_match(pattern, path), match_slowly(pattern, path),
					     "%s on %s", pattern, path);
			}
		}
}

Test(glob, hostile_patterns_take_bounded_time, .timeout = 120)
{
	enum { PATHS = 4000 };
	char pattern[GLOB_PATTERN_MAX + 1];
	char path[4096];
	clock_t before;

	for (size_t i = 0; i < GLOB_PATTERN_MAX; i++)
		pattern[i] = "*a**"[i % 4];
	pattern[GLOB_PATTERN_MAX - 1] = 'b';
	pattern[GLOB_PATTERN_MAX] = '\0';
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';

	/*
	 * The test measures CPU time with clock(), because other processes may take the CPU for long. An
	 * unbounded match would take years. A match that follows each place of the pattern by itself takes 3 ms for
	 * a path, and the daemon matches 10,000 paths in one call.
	 */
	before = clock();
	for (int i = 0; i < PATHS; i++)
		cr_assert_not(glob_match(pattern, path));
	cr_expect_lt((clock() - before) / CLOCKS_PER_SEC, 5);
}

/* Paths that begin alike are read once up to the place where they part. */
Test(glob, a_path_can_be_read_in_parts)
{
	static const char *const patterns[] = {"**", "/a*", "/a/**b", "**/*/?", "/a/b", "*", "", "/**c"};
	static const char *const path = "/a/bc/b";

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct glob_places places;
		struct glob glob;

		cr_assert_eq(glob_compile(patterns[i], &glob), 0);
		glob_begin(&glob, &places);
		for (size_t n = 0; n <= strlen(path); n++) {
			char part[16] = "";

			memcpy(part, path, n);
			cr_expect_eq(glob_accepts(&glob, &places), match_slowly(patterns[i], part),
				     "%s on %s", patterns[i], part);
			glob_read(&glob, &places, path + n, 1);
		}
	}
}

Test(glob, a_pattern_that_is_too_long_matches_nothing)
{
	char pattern[GLOB_PATTERN_MAX + 2];

	memset(pattern, '*', sizeof(pattern));
	pattern[GLOB_PATTERN_MAX + 1] = '\0';
	cr_expect_not(glob_match(pattern, "/a"));
	pattern[GLOB_PATTERN_MAX] = '\0';
	cr_expect(glob_match(pattern, "/a"));
}
