// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_format.h"

Test(pmu_format, bits_of_a_format_are_found)
{
	static const struct {
		const char *text;
		unsigned config;
		u64 mask;
	} cases[] = {
		{"config:0-7", 0, 0xff},    {"config1:0-15", 1, 0xffff},
		{"config:18", 0, 1 << 18},  {"config:0-7,32-35", 0, 0xf000000ff},
		{"config2:0-63", 2, ~0ULL}, {"config3:63", 3, 1ULL << 63},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pmu_format format;

		cr_assert_eq(pmu_format_parse(cases[i].text, &format), 0, "%s", cases[i].text);
		cr_expect_eq(format.config, cases[i].config, "%s", cases[i].text);
		cr_expect_eq(format.mask, cases[i].mask, "%s", cases[i].text);
	}
}

Test(pmu_format, invalid_formats_are_refused)
{
	static const char *const texts[] = {
		"",           "config",      "config:",     "config4:0", "config1",  "config:64",
		"config:7-0", "config:0-",   "config:0-7,", "config:x",  "conf:0-7", "config:0:1",
		"config:-1",  "config:0-7 ", "config:100",  "config11:0"};
	struct pmu_format format;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		cr_expect_eq(pmu_format_parse(texts[i], &format), -EINVAL, "%s", texts[i]);
}

Test(pmu_format, a_value_replaces_the_former_one)
{
	const struct pmu_format ldlat = {.config = 1, .mask = 0xffff};
	const struct pmu_format split = {.config = 0, .mask = 0xf000000ff};
	u64 configs[PMU_CONFIGS] = {0, 0xab0003, 0, 0};

	cr_expect_eq(pmu_format_place(&ldlat, 64, configs), 0);
	cr_expect_eq(configs[1], 0xab0040);
	cr_expect_eq(pmu_format_place(&ldlat, 0x10000, configs), -ERANGE);
	cr_expect_eq(configs[1], 0xab0040);
	cr_expect_eq(pmu_format_place(&split, 0xabc, configs), 0);
	cr_expect_eq(configs[0], 0xa000000bc);
}

Test(pmu_format, terms_are_read_one_by_one)
{
	const char *text = "event=0xcd,umask=1,inv\n";
	struct pmu_term term;

	cr_assert_eq(pmu_term_next(&text, &term), 1);
	cr_expect_str_eq(term.name, "event");
	cr_expect_eq(term.value, 0xcd);
	cr_assert_eq(pmu_term_next(&text, &term), 1);
	cr_expect_str_eq(term.name, "umask");
	cr_expect_eq(term.value, 1);
	cr_assert_eq(pmu_term_next(&text, &term), 1);
	cr_expect_str_eq(term.name, "inv");
	cr_expect_eq(term.value, 1);
	cr_expect_eq(pmu_term_next(&text, &term), 0);
}

Test(pmu_format, invalid_terms_are_refused)
{
	static const char *const texts[] = {
		"=1",     "event=",      "event=?",  "event=0x1;",
		"../x=1", "/etc/passwd", "event=-1", "event=99999999999999999999999",
		"a b",    ",event=1"};
	struct pmu_term term;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *text = texts[i];

		cr_expect_eq(pmu_term_next(&text, &term), -EINVAL, "%s", texts[i]);
	}
}
