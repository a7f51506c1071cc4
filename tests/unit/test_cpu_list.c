// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine/cpu_list.h"
#include "tree.h"

static void expect_round_trip(const char *text, const char *expected, size_t count)
{
	_cleanup_free_ char *formatted = NULL;
	struct cpu_list list;

	cr_assert_eq(cpu_list_parse(text, &list), 0, "%s", text);
	formatted = cpu_list_format(&list);
	cr_assert_not_null(formatted);
	cr_expect_str_eq(formatted, expected);
	cr_expect_eq(cpu_list_count(&list), count);
}

Test(cpu_list, lists_of_the_kernel_are_read_and_written_unchanged)
{
	expect_round_trip("0", "0", 1);
	expect_round_trip("0-3,8\n", "0-3,8", 5);
	expect_round_trip("0-27,56-83", "0-27,56-83", 56);
	expect_round_trip("8,1,0", "0-1,8", 3);
	expect_round_trip("63-64,127,128", "63-64,127-128", 4);
	expect_round_trip("8191", "8191", 1);
	expect_round_trip("", "", 0);
	expect_round_trip(" \n", "", 0);
}

Test(cpu_list, an_invalid_list_is_refused_without_a_change)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{"x", -EINVAL},     {"-1", -EINVAL},
		{"0-", -EINVAL},    {"3-1", -EINVAL},
		{"0,,1", -EINVAL},  {"0 1", -EINVAL},
		{"0-3x", -EINVAL},  {"8192", -ERANGE},
		{"+1", -EINVAL},    {"0-99999999999", -ERANGE},
		{"1 - 2", -EINVAL}, {",1", -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpu_list list = {.bits = {5}};

		cr_expect_eq(cpu_list_parse(cases[i].text, &list), cases[i].error, "%s", cases[i].text);
		cr_expect_eq(list.bits[0], 5);
	}
}

Test(cpu_list, equal_lists_have_the_same_members)
{
	struct cpu_list a = {0}, b = {0};

	cr_expect(cpu_list_equal(&a, &b));
	cpu_list_add(&a, CPU_LIST_MAX - 1);
	cr_expect_not(cpu_list_equal(&a, &b));
	cpu_list_add(&b, CPU_LIST_MAX - 1);
	cr_expect(cpu_list_equal(&a, &b));
}

Test(cpu_list, members_are_found_and_iterated_in_order)
{
	struct cpu_list list, other;

	cr_assert_eq(cpu_list_parse("1,64-65", &list), 0);
	cr_assert_eq(cpu_list_parse("0,65-70", &other), 0);
	cr_expect(cpu_list_has(&list, 64));
	cr_expect_not(cpu_list_has(&list, 0));
	cr_expect_not(cpu_list_has(&list, -1));
	cr_expect_not(cpu_list_has(&list, CPU_LIST_MAX));
	cr_expect_eq(cpu_list_next(&list, -1), 1);
	cr_expect_eq(cpu_list_next(&list, 1), 64);
	cr_expect_eq(cpu_list_next(&list, 65), -1);
	cr_expect_eq(cpu_list_end(&list), 66);
	cr_expect_eq(cpu_list_end(&(struct cpu_list){0}), 0);
	cpu_list_keep(&list, &other);
	cr_expect_eq(cpu_list_count(&list), 1);
	cpu_list_add_all(&list, &other);
	cr_expect_eq(cpu_list_count(&list), 7);
	cpu_list_add(&list, CPU_LIST_MAX);
	cpu_list_add(&list, -1);
	cr_expect_eq(cpu_list_count(&list), 7);
	cpu_list_add(&list, CPU_LIST_MAX - 1);
	cr_expect_eq(cpu_list_end(&list), CPU_LIST_MAX);
}

Test(cpu_list, lists_are_read_from_files)
{
	char *root = tree_new();
	char path[128];
	struct cpu_list list;

	tree_write(root, "online", "0-1\n");
	(void)snprintf(path, sizeof(path), "%s/online", root);
	cr_expect_eq(cpu_list_read(path, &list), 0);
	cr_expect_eq(cpu_list_count(&list), 2);
	cr_expect_eq(cpu_list_read(root, &list), -EISDIR);
	tree_remove(root);
	cr_expect_eq(cpu_list_read(path, &list), -ENOENT);
}
