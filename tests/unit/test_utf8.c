// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

#define REPLACED "\xef\xbf\xbd"

/*
 * Not UTF-8: an invalid byte, an overlong form, a surrogate, a value beyond the last character, a cut
 * character. Noncharacters and U+FFFD itself are also escaped.
 */
Test(utf8, names_are_shown_with_escaped_bytes)
{
	static const struct {
		const char *name;
		const char *shown;
		bool valid;
	} cases[] = {
		{"", "", true},
		{"/a b\n\"\\", "/a b\n\"\\", true},
		{"/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", true},
		{"r2\xff", "r2" REPLACED "ff", false},
		{"\xc0\xaf", REPLACED "c0" REPLACED "af", false},
		{"\xed\xa0\x80", REPLACED "ed" REPLACED "a0" REPLACED "80", false},
		{"\xf4\x90\x80\x80", REPLACED "f4" REPLACED "90" REPLACED "80" REPLACED "80", false},
		{"\xef\xbf\xbe", REPLACED "ef" REPLACED "bf" REPLACED "be", false},
		{"\xef\xb7\x90", REPLACED "ef" REPLACED "b7" REPLACED "90", false},
		{"\xf0\x9f\xbf\xbf", REPLACED "f0" REPLACED "9f" REPLACED "bf" REPLACED "bf", false},
		{"caf\xc3", "caf" REPLACED "c3", false},
		{REPLACED "ff",
		 REPLACED "ef" REPLACED "bf" REPLACED "bd"
			  "ff",
		 true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *shown = NULL;

		cr_assert_eq(utf8_show(cases[i].name, &shown), 0);
		cr_expect_str_eq(shown, cases[i].shown, "case %zu", i);
		cr_expect_eq(utf8_is_valid(cases[i].name), cases[i].valid, "case %zu", i);
		cr_expect(utf8_is_valid(shown), "case %zu", i);
		for (size_t j = 0; j < ARRAY_SIZE(cases); j++)
			cr_expect_eq(utf8_is_shown_as(cases[j].name, shown), i == j, "%zu as %zu", j, i);
	}
	cr_expect_not(utf8_is_shown_as("r2\xff", "r2" REPLACED));
	cr_expect_not(utf8_is_shown_as("r2", "r2" REPLACED "ff"));
	cr_expect_not(utf8_is_shown_as("r2\xff", "r2\xff"));
}

Test(utf8, a_part_is_compared_with_a_shown_form)
{
	cr_expect(utf8_part_is_shown_as("/a\xff/b", 3, "/a" REPLACED "ff"));
	cr_expect(utf8_part_is_shown_as("/a\xff/b", 0, ""));
	cr_expect_not(utf8_part_is_shown_as("/a\xff/b", 2, "/a" REPLACED "ff"));
	cr_expect_not(utf8_part_is_shown_as("/a\xff/b", 4, "/a" REPLACED "ff"));
	cr_expect_not(utf8_part_is_shown_as("/a\xff/b", 3, "/a" REPLACED "ff/b"));
}

Test(utf8, lines_for_people_have_no_control_characters)
{
	static const struct {
		const char *text;
		const char *plain;
	} cases[] = {
		{"", ""},
		{"/a b\"\\", "/a b\"\\"},
		{"a\nb\tc\033[2Jd\x7f", "a?b?c?[2Jd?"},
		{"/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\xff/\xc3", "?/?"},
		{"\xc2\x9b"
		 "31m\xc2\xa0",
		 "??31m\xc2\xa0"},
		/* NOLINTNEXTLINE(misc-misleading-bidirectional): the test is about it */
		{"\xe2\x80\xa8\xe2\x80\xaetxt\xe2\x81\xa6\xe2\x80\xa7\xe2\x81\xaa",
		 "??????txt???\xe2\x80\xa7\xe2\x81\xaa"},
		{"\xe2\x80", "??"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[64];

		(void)strcpy(text, cases[i].text);
		utf8_make_plain(text);
		cr_expect_str_eq(text, cases[i].plain);
		cr_expect(utf8_is_valid(text));
	}
}
