// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>

#include "base/cleanup.h"
#include "machine/resctrl.h"
#include "tree.h"

Test(resctrl, bytes_are_numbers_or_words_for_a_missing_value)
{
	u64 bytes = 7;

	cr_expect_eq(resctrl_parse_bytes("18446744073709551615", &bytes), 0);
	cr_expect_eq(bytes, ~0ULL);
	cr_expect_eq(resctrl_parse_bytes("Unavailable", &bytes), -ENODATA);
	cr_expect_eq(resctrl_parse_bytes("Error", &bytes), -ENODATA);
	cr_expect_eq(resctrl_parse_bytes("Unassigned", &bytes), -ENODATA);
	cr_expect_eq(resctrl_parse_bytes("18446744073709551616", &bytes), -EBADMSG);
	cr_expect_eq(resctrl_parse_bytes("-1", &bytes), -EBADMSG);
	cr_expect_eq(resctrl_parse_bytes("", &bytes), -EBADMSG);
	cr_expect_eq(resctrl_parse_bytes("12 ", &bytes), -EBADMSG);
	cr_expect_eq(bytes, ~0ULL);
}

static void expect(const struct resctrl_domain *domain, const char *group, u32 number, u64 total, u64 local)
{
	cr_expect_str_eq(domain->group, group);
	cr_expect_eq(domain->domain, number, "%s", group);
	cr_expect_eq(domain->known[RESCTRL_TOTAL], total != 0, "%s", group);
	cr_expect_eq(domain->bytes[RESCTRL_TOTAL], total, "%s", group);
	cr_expect_eq(domain->known[RESCTRL_LOCAL], local != 0, "%s", group);
	cr_expect_eq(domain->bytes[RESCTRL_LOCAL], local, "%s", group);
}

#define DOMAIN(name, number, total, local)                                                        \
	{                                                                                         \
		.group = (char[]){name}, .domain = (number), .known = {(total) > 0, (local) > 0}, \
		.bytes = {(total), (local)},                                                      \
	}

Test(resctrl, rates_include_all_domains_of_a_group)
{
	struct resctrl_domain first[] = {DOMAIN("", 0, 1000, 500), DOMAIN("", 1, 2000, 100),
					 DOMAIN("gone", 0, 7, 7), DOMAIN("web", 0, 300, 300),
					 DOMAIN("web", 1, 400, 0)};
	struct resctrl_domain later[] = {DOMAIN("", 0, 3000, 600), DOMAIN("", 1, 6000, 300),
					 DOMAIN("new", 0, 9, 9), DOMAIN("web", 0, 200, 500),
					 DOMAIN("web", 1, 500, 10)};
	const struct resctrl before = {.list = first, .n = ARRAY_SIZE(first)};
	const struct resctrl now = {.list = later, .n = ARRAY_SIZE(later)};
	_cleanup_(resctrl_rates_done) struct resctrl_rates rates = {0};

	cr_assert_eq(resctrl_rates_update(&rates, &before, &now, 2), 0);
	cr_assert_eq(rates.n, 3);
	cr_expect_eq(rates.seconds, 2);
	cr_expect_str_eq(rates.list[0].group, "");
	cr_expect(rates.list[0].known[RESCTRL_TOTAL] && rates.list[0].rates[RESCTRL_TOTAL] == 3000);
	cr_expect(rates.list[0].known[RESCTRL_LOCAL] && rates.list[0].rates[RESCTRL_LOCAL] == 150);
	cr_expect_str_eq(rates.list[1].group, "new");
	cr_expect_not(rates.list[1].known[RESCTRL_TOTAL], "it has one reading");
	cr_expect_str_eq(rates.list[2].group, "web");
	cr_expect_not(rates.list[2].known[RESCTRL_TOTAL], "a counter went back: another group has its name");
	cr_expect_not(rates.list[2].known[RESCTRL_LOCAL], "a domain was not known before");
	cr_assert_eq(resctrl_rates_update(&rates, &now, &(struct resctrl){0}, 1), 0);
	cr_expect_eq(rates.n, 0);
}

/* The CPUs of an L3 cache may go offline. What the group moved there since the first reading is not known. */
Test(resctrl, a_group_whose_domain_vanished_has_no_rate)
{
	struct resctrl_domain first[] = {DOMAIN("", 0, 1000, 500), DOMAIN("", 1, 2000, 100),
					 DOMAIN("web", 0, 300, 300)};
	struct resctrl_domain later[] = {DOMAIN("", 0, 3000, 600), DOMAIN("web", 0, 400, 400)};
	const struct resctrl before = {.list = first, .n = ARRAY_SIZE(first)};
	const struct resctrl now = {.list = later, .n = ARRAY_SIZE(later)};
	_cleanup_(resctrl_rates_done) struct resctrl_rates rates = {0};

	cr_assert_eq(resctrl_rates_update(&rates, &before, &now, 1), 0);
	cr_assert_eq(rates.n, 2);
	cr_expect_not(rates.list[0].known[RESCTRL_TOTAL]);
	cr_expect_not(rates.list[0].known[RESCTRL_LOCAL]);
	cr_expect(rates.list[1].known[RESCTRL_TOTAL] && rates.list[1].rates[RESCTRL_TOTAL] == 100);
}

Test(resctrl, groups_of_all_kinds_are_read_in_order)
{
	_cleanup_(tree_removep) char *root = tree_new();
	_cleanup_(resctrl_done) struct resctrl resctrl;

	tree_write(root, "mon_data/mon_L3_00/mbm_total_bytes", "100\n");
	tree_write(root, "mon_data/mon_L3_00/mbm_local_bytes", "90\n");
	tree_write(root, "mon_data/mon_L3_01/mbm_total_bytes", "200\n");
	tree_write(root, "mon_data/mon_L3_01/mbm_local_bytes", "Unavailable\n");
	tree_write(root, "mon_groups/web/mon_data/mon_L3_00/mbm_total_bytes", "300\n");
	tree_write(root, "batch/mon_data/mon_L3_10/mbm_total_bytes", "400\n");
	tree_write(root, "batch/mon_groups/night/mon_data/mon_L3_00/mbm_local_bytes", "500\n");
	tree_write(root, "info/L3_MON/mon_features", "mbm_total_bytes\n");
	tree_write(root, "tasks", "1\n");

	cr_assert_eq(resctrl_read(root, &resctrl), 0);
	cr_assert_eq(resctrl.n, 5);
	expect(&resctrl.list[0], "", 0, 100, 90);
	expect(&resctrl.list[1], "", 1, 200, 0);
	expect(&resctrl.list[2], "batch", 10, 400, 0);
	expect(&resctrl.list[3], "batch/mon_groups/night", 0, 0, 500);
	expect(&resctrl.list[4], "mon_groups/web", 0, 300, 0);
	cr_expect_not(resctrl.truncated);
}

Test(resctrl, other_files_and_invalid_values_are_ignored)
{
	_cleanup_(tree_removep) char *root = tree_new();
	_cleanup_(resctrl_done) struct resctrl resctrl;

	tree_write(root, "mon_data/mon_L3_00/mbm_total_bytes", "1e9\n");
	tree_write(root, "mon_data/mon_L3_00/mbm_local_bytes", "4096\nmore\n");
	tree_write(root, "mon_data/mon_L3_x/mbm_total_bytes", "1\n");
	tree_write(root, "mon_data/mon_L3_99999999999/mbm_total_bytes", "1\n");
	tree_write(root, "mon_data/mon_L2_00/mbm_total_bytes", "1\n");
	tree_write(root, "mon_data/mon_L3_02/mbm_total_bytes/folder", "1\n");
	tree_write(root, "a\"b\n/mon_data/mon_L3_00/mbm_total_bytes", "3\n");
	tree_write(root, "empty/tasks", "");

	cr_assert_eq(resctrl_read(root, &resctrl), 0);
	cr_assert_eq(resctrl.n, 3);
	expect(&resctrl.list[0], "", 0, 0, 0);
	expect(&resctrl.list[1], "", 2, 0, 0);
	expect(&resctrl.list[2], "a\"b\n", 0, 3, 0);
}

Test(resctrl, nothing_is_read_if_it_is_not_mounted)
{
	_cleanup_(resctrl_done) struct resctrl resctrl;

	cr_assert_eq(resctrl_read("/nonexistent", &resctrl), 0);
	cr_expect_eq(resctrl.n, 0);
}
