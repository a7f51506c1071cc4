// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "collect/no_slot.h"

Test(no_slot, paths_are_found_whatever_their_order)
{
	struct no_slot list = {0};
	char path[16];

	cr_expect_null(no_slot_find(NULL, "/a"));
	cr_expect_null(no_slot_find(&list, "/a"));
	for (unsigned i = 0; i < 200; i++) {
		(void)snprintf(path, sizeof(path), "/p%u", i * 37 % 200);
		cr_assert_eq(no_slot_take(&list, strdup(path)), 0);
	}
	no_slot_sort(&list);
	for (unsigned i = 0; i < 200; i++) {
		(void)snprintf(path, sizeof(path), "/p%u", i);
		cr_expect_str_eq(no_slot_find(&list, path), path);
	}
	cr_expect_null(no_slot_find(&list, "/p200"));
	cr_expect_null(no_slot_find(&list, "/p"));
	no_slot_clear(&list);
	cr_expect_eq(list.n, 0);
}

Test(no_slot, a_name_is_found_by_what_is_shown_of_it)
{
	struct no_slot list = {0};

	cr_assert_eq(no_slot_take(&list, strdup("/bad\xff")), 0);
	cr_assert_eq(no_slot_take(&list, strdup("/good")), 0);
	no_slot_sort(&list);
	cr_expect_str_eq(no_slot_shown_as(&list, "/good"), "/good");
	cr_expect_str_eq(no_slot_shown_as(&list, "/bad\xef\xbf\xbd"
						 "ff"),
			 "/bad\xff");
	cr_expect_null(no_slot_shown_as(&list, "/other"));
	cr_expect_null(no_slot_shown_as(NULL, "/good"));
	no_slot_clear(&list);
}
