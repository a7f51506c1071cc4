// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "collect/no_slot.h"
#include "heap.h"
#include "kernel/kernel.h"

Test(no_slot, paths_are_found_in_any_order)
{
	struct no_slot list = {0};
	char path[16];

	cr_expect_not(no_slot_has(NULL, "/a"));
	cr_expect_not(no_slot_has(&list, "/a"));
	for (unsigned i = 0; i < 200; i++) {
		(void)snprintf(path, sizeof(path), "/p%u", i * 37 % 200);
		cr_assert_eq(no_slot_add(&list, path), 0);
	}
	no_slot_sort(&list);
	for (unsigned i = 0; i < 200; i++) {
		(void)snprintf(path, sizeof(path), "/p%u", i);
		cr_expect(no_slot_has(&list, path), "%s", path);
	}
	cr_expect_not(no_slot_has(&list, "/p200"));
	cr_expect_not(no_slot_has(&list, "/p"));
	no_slot_clear(&list);
	cr_expect_eq(list.n, 0);
}

Test(no_slot, paths_of_a_subtree_are_counted)
{
	static const char *const paths[] = {"/a/c", "/a-b", "/a", "/a/b/c", "/ab", "/b/a"};
	static const struct {
		const char *path;
		u64 n;
	} cases[] = {{"/", 6},   {"/a", 3}, {"/a/b", 1}, {"/a/b/c", 1},
		     {"/ab", 1}, {"/b", 1}, {"/c", 0},   {"comm:a", 0}};
	struct no_slot list = {0};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		cr_assert_eq(no_slot_add(&list, paths[i]), 0);
	no_slot_sort(&list);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cr_expect_eq(no_slot_count_subtree(&list, cases[i].path, strlen(cases[i].path)), cases[i].n,
			     "%s", cases[i].path);
	cr_expect_eq(no_slot_count_subtree(&list, "/a/b", 2), 3, "only the first bytes");
	cr_expect_eq(no_slot_count_subtree(NULL, "/", 1), 0);
	no_slot_clear(&list);
	cr_expect_eq(no_slot_count_subtree(&list, "/", 1), 0);
}

/* The list is filled twice, because the second time the names go to a list that has been cleared. */
Test(no_slot, names_have_a_limit_beyond_which_paths_are_still_known)
{
	struct no_slot list = {0};
	static char path[3801];

	memset(path, 'a', sizeof(path) - 1);
	for (u64 generation = 0; generation < 2; generation++) {
		cr_expect_eq(list.generation, generation);
		for (unsigned i = 0; i < 3000; i++) {
			(void)snprintf(path, 10, "/%08u", i * 37 % 3000);
			path[9] = 'a';
			cr_assert_eq(no_slot_add(&list, path), 0);
		}
		no_slot_sort(&list);
		cr_expect_gt(list.n, 1000);
		cr_expect_eq(list.n + list.n_hashes, 3000);
		cr_expect_geq(list.bytes, list.n * sizeof(path));
		cr_expect_leq(list.bytes, NO_SLOT_NAMES_BYTES);
		for (unsigned i = 0; i < 3001; i++) {
			(void)snprintf(path, 10, "/%08u", i);
			path[9] = 'a';
			cr_expect_eq(no_slot_has(&list, path), i < 3000, "%u", i);
			cr_expect_eq(no_slot_shown_as(&list, path) != NULL, i < 3000, "%u", i);
		}
		no_slot_clear(&list);
	}
}

/* The limit includes the overhead of the allocator, which is greatest for the shortest paths. */
Test(no_slot, memory_of_the_list_is_bounded)
{
	for (int length = 1; length < 400; length = length * 3 / 2 + 7) {
		const size_t before = heap_bytes();
		struct no_slot list = {0};
		size_t bytes;
		char path[640];

		for (unsigned i = 0; i < KERNEL_SLOTS_MAX; i++) {
			cr_assert_lt(snprintf(path, sizeof(path), "/%0*x", length, i), (int)sizeof(path));
			cr_assert_eq(no_slot_add(&list, path), 0);
		}
		bytes = heap_bytes() - before;
		cr_expect_leq(bytes, NO_SLOT_BYTES, "%d: %zu bytes", length, bytes);
		no_slot_clear(&list);
	}
}

Test(no_slot, a_path_is_found_by_its_shown_form)
{
	struct no_slot list = {0};

	cr_assert_eq(no_slot_add(&list, "/bad\xff"), 0);
	cr_assert_eq(no_slot_add(&list, "/good"), 0);
	no_slot_sort(&list);
	cr_expect_str_eq(no_slot_shown_as(&list, "/good"), "/good");
	cr_expect_str_eq(no_slot_shown_as(&list, "/bad\xef\xbf\xbd"
						 "ff"),
			 "/bad\xff");
	cr_expect_null(no_slot_shown_as(&list, "/other"));
	cr_expect_null(no_slot_shown_as(NULL, "/good"));
	no_slot_clear(&list);
}
