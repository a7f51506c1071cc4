// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "store/stored_name.h"

Test(stored_name, a_written_name_is_read_unchanged)
{
	static const struct {
		struct stored_name name;
		const char *text;
	} cases[] = {
		{{STORED_MAP, 1, "slot_index", 0, {0}}, "map-1-slot_index"},
		{{STORED_MAP, 2, ".bss", 0, {0}}, "map-2-.bss"},
		{{STORED_LINK, 1, "cgroup_born", 1, {7}}, "link-1-cgroup_born-7"},
		{{STORED_EVENT, 1, "", 3, {0, 255, 2}}, "event-1-0-255-2"},
		{{STORED_LEADER, 1, "", 3, {11, 8191, 4294967295U}}, "leader-1-11-8191-4294967295"},
		{{STORED_COUNTER, 4294967295U, "", 3, {0, 0, 0}}, "counter-4294967295-0-0-0"},
		{{STORED_HANDOVER, 0, "", 0, {0}}, "handover-0"},
		{{STORED_STATE, 3, "", 1, {1}}, "state-3-1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct stored_name parsed;
		char text[STORED_NAME_MAX];

		stored_name_format(&cases[i].name, text);
		cr_expect_str_eq(text, cases[i].text);
		cr_assert(stored_name_parse(text, &parsed), "%s", text);
		cr_expect_eq(memcmp(&parsed, &cases[i].name, sizeof(parsed)), 0, "%s", text);
	}
}

Test(stored_name, other_texts_are_not_names)
{
	static const char too_long[] =
		"map-1-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaa";
	static const char *const cases[] = {
		"",
		"-",
		"map",
		"map-",
		"map--",
		"map-1-",
		"map-x",
		"map-1-a-",
		"map-1--a",
		"map-01",
		"map-+1",
		"map--1",
		"map-1 ",
		" map-1",
		"map-1\n",
		"Map-1",
		"maps-1",
		"ma-1",
		"map-1-A",
		"map-1-a b",
		"map-1-a/b",
		"map-1-a:b",
		"map-1-4294967296",
		"map-4294967296",
		"map-99999999999999999999",
		"event-1-0-1-2-3",
		"event-1-0-01-2",
		"event-1-1-a",
		"event-1-a-b",
		"event-1-0x1",
		"event-1-0-",
		"pebsd.socket",
		"stored",
		"unknown",
		"http",
		"state-1-\xc3\xa9",
		"map-1-\x7f",
		"map-1-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		too_long,
	};
	struct stored_name name = {.layout = 17};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cr_expect_not(stored_name_parse(cases[i], &name), "'%s'", cases[i]);
	cr_expect_eq(name.layout, 17, "a refused name is written to the result");
}
