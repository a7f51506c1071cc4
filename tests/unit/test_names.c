// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "cgroup/names.h"
#include "random_numbers.h"

static void expect_path(const struct names *names, u64 id, const char *path, int known)
{
	_cleanup_free_ char *found = NULL;

	cr_expect_eq(names_path(names, id, &found), known, "%s", path);
	cr_expect_str_eq(found, path);
}

static struct names *with_root(size_t max)
{
	struct names *names;

	cr_assert_eq(names_new(max, &names), 0);
	cr_assert_eq(names_add(names, 1, 0, ""), 0);
	return names;
}

Test(names, names_are_joined_to_paths)
{
	_cleanup_(names_freep) struct names *names = with_root(16);

	cr_assert_eq(names_add(names, 10, 1, "system.slice"), 0);
	cr_assert_eq(names_add(names, 20, 10, "nginx.service"), 0);
	expect_path(names, 1, "/", 1);
	expect_path(names, 10, "/system.slice", 1);
	expect_path(names, 20, "/system.slice/nginx.service", 1);
	cr_expect_eq(names_count(names), 3);
}

Test(names, ten_levels_of_two_hundred_bytes_are_whole)
{
	_cleanup_(names_freep) struct names *names = with_root(16);
	char expected[10 * 201 + 1] = "";
	char component[201] = "";

	for (u64 level = 0; level < 10; level++) {
		memset(component, 'a' + (char)level, 200);
		strcat(expected, "/");
		strcat(expected, component);
		cr_assert_eq(names_add(names, level + 2, level + 1, component), 0);
	}
	expect_path(names, 11, expected, 1);
}

Test(names, a_path_that_the_kernel_cannot_name_is_an_id)
{
	_cleanup_(names_freep) struct names *names = with_root(32);
	char component[256] = "", expected[PATH_MAX] = "";
	_cleanup_free_ char *path = NULL;

	memset(component, 'x', 255);
	for (u64 level = 2; level < 17; level++) {
		cr_assert_eq(names_add(names, level, level - 1, component), 0);
		strcat(strcat(expected, "/"), component);
	}
	component[254] = '\0';
	cr_assert_eq(names_add(names, 17, 16, component), 0);
	strcat(strcat(expected, "/"), component);
	cr_assert_eq(strlen(expected), PATH_MAX - 1UL);
	expect_path(names, 17, expected, 1);
	strcpy(component, "x");
	cr_assert_eq(names_add(names, 18, 17, component), 0);
	cr_assert_eq(names_add(names, 19, 18, component), 0);
	expect_path(names, 18, "cgroup:18", 0);
	expect_path(names, 19, "cgroup:19", 0);

	/* Each of these bytes is shown as five. Prometheus rejects a whole scrape if a label is too long. */
	memset(component, '\xff', 204);
	component[204] = '\0';
	for (u64 level = 20; level < 24; level++)
		cr_assert_eq(names_add(names, level, level == 20 ? 1 : level - 1, component), 0);
	cr_assert_eq(names_add(names, 24, 23, "12345678901"), 0);
	cr_assert_eq(names_add(names, 25, 23, "1234567890"), 0);
	expect_path(names, 24, "cgroup:24", 0);
	cr_expect_eq(names_path(names, 25, &path), 1);
	cr_expect_eq(utf8_shown_length(path), PATH_MAX - 1);
}

Test(names, children_can_be_added_before_their_parents)
{
	_cleanup_(names_freep) struct names *names;

	cr_assert_eq(names_new(16, &names), 0);
	cr_assert_eq(names_add(names, 30, 20, "c"), 0);
	expect_path(names, 30, "cgroup:20/c", 0);
	expect_path(names, 20, "cgroup:20", 0);
	cr_assert_eq(names_add(names, 20, 10, "b"), 0);
	expect_path(names, 30, "cgroup:10/b/c", 0);
	cr_assert_eq(names_add(names, 10, 1, "a"), 0);
	cr_assert_eq(names_add(names, 1, 0, ""), 0);
	expect_path(names, 30, "/a/b/c", 1);
	cr_expect_eq(names_count(names), 4);
}

Test(names, an_unknown_cgroup_is_shown_by_id)
{
	_cleanup_(names_freep) struct names *names = with_root(16);

	expect_path(names, 18446744073709551615ULL, "cgroup:18446744073709551615", 0);
	cr_assert_eq(names_add(names, 5, 1, ""), 0);
	cr_assert_eq(names_add(names, 6, 5, "x"), 0);
	expect_path(names, 5, "/cgroup:5", 0);
	expect_path(names, 6, "/cgroup:5/x", 0);
	/* The walk may find a name that BPF could not read. A name that is known is not forgotten. */
	cr_assert_eq(names_add(names, 5, 1, "five"), 0);
	expect_path(names, 6, "/five/x", 1);
	cr_assert_eq(names_add(names, 5, 1, ""), 0);
	expect_path(names, 6, "/five/x", 1);
}

Test(names, adding_a_cgroup_twice_changes_nothing)
{
	_cleanup_(names_freep) struct names *names = with_root(16);

	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(names_add(names, 2, 1, "a"), 0);
		cr_assert_eq(names_add(names, 3, 2, "b"), 0);
		cr_assert_eq(names_add(names, 1, 0, ""), 0);
	}
	cr_expect_eq(names_count(names), 3);
	names_remove(names, 3);
	names_remove(names, 2);
	cr_expect_eq(names_count(names), 1);
}

Test(names, a_removed_ancestor_is_kept_for_its_descendants)
{
	_cleanup_(names_freep) struct names *names = with_root(16);

	cr_assert_eq(names_add(names, 2, 1, "a"), 0);
	cr_assert_eq(names_add(names, 3, 2, "b"), 0);
	cr_assert_eq(names_add(names, 4, 3, "c"), 0);
	names_remove(names, 2);
	names_remove(names, 3);
	expect_path(names, 4, "/a/b/c", 1);
	expect_path(names, 3, "/a/b", 1);
	cr_expect_eq(names_count(names), 4);
	names_remove(names, 4);
	cr_expect_eq(names_count(names), 1);
	expect_path(names, 3, "cgroup:3", 0);
	names_remove(names, 4);
	names_remove(names, 77);
	cr_expect_eq(names_count(names), 1);
}

Test(names, a_reused_id_is_another_cgroup)
{
	_cleanup_(names_freep) struct names *names = with_root(16);

	cr_assert_eq(names_add(names, 2, 1, "old"), 0);
	cr_assert_eq(names_add(names, 3, 2, "child"), 0);
	names_remove(names, 2);
	cr_assert_eq(names_add(names, 2, 1, "new"), 0);
	cr_assert_eq(names_add(names, 4, 2, "other"), 0);
	expect_path(names, 2, "/new", 1);
	expect_path(names, 3, "/old/child", 1);
	expect_path(names, 4, "/new/other", 1);
	cr_expect_eq(names_count(names), 5);
	names_remove(names, 3);
	cr_expect_eq(names_count(names), 3);
	expect_path(names, 2, "/new", 1);

	/*
	 * A used id also becomes another cgroup if the removal of the old one was never reported. The parent
	 * may be a different one.
	 */
	cr_assert_eq(names_add(names, 4, 1, "other"), 0);
	expect_path(names, 4, "/other", 1);
	cr_expect_eq(names_count(names), 3);
	names_remove(names, 2);
	names_remove(names, 4);
	cr_expect_eq(names_count(names), 1);
}

/*
 * The parent of the old and the new cgroup is dead. Until the new cgroup is added, only the old one keeps the
 * parent.
 */
Test(names, superseding_keeps_the_shared_parent)
{
	_cleanup_(names_freep) struct names *names = with_root(16);

	cr_assert_eq(names_add(names, 2, 1, "a"), 0);
	cr_assert_eq(names_add(names, 3, 2, "old"), 0);
	names_remove(names, 2);
	cr_assert_eq(names_add(names, 3, 2, "new"), 0);
	expect_path(names, 3, "/a/new", 1);
	cr_expect_eq(names_count(names), 3);
}

Test(names, whole_paths_of_a_recording_are_kept)
{
	_cleanup_(names_freep) struct names *names;

	cr_assert_eq(names_new(16, &names), 0);
	cr_assert_eq(names_add_path(names, 1, "comm:foo"), 0);
	cr_assert_eq(names_add_path(names, 2, "/a/b"), 0);
	cr_assert_eq(names_add_path(names, 3, "/"), 0);
	cr_assert_eq(names_add(names, 4, 3, "c"), 0);
	expect_path(names, 1, "comm:foo", 1);
	expect_path(names, 2, "/a/b", 1);
	expect_path(names, 3, "/", 1);
	expect_path(names, 4, "/c", 1);
	cr_expect_eq(names_add_path(names, 5, ""), -EINVAL);
	cr_expect_eq(names_add_path(names, 0, "/x"), -EINVAL);
	cr_expect_eq(names_count(names), 4);
}

Test(names, invalid_components_are_refused)
{
	_cleanup_(names_freep) struct names *names = with_root(16);
	char component[257] = "";

	cr_expect_eq(names_add(names, 2, 1, "a/b"), -EINVAL);
	cr_expect_eq(names_add(names, 2, 1, "."), -EINVAL);
	cr_expect_eq(names_add(names, 2, 1, ".."), -EINVAL);
	cr_expect_eq(names_add(names, 0, 1, "a"), -EINVAL);
	memset(component, 'x', 256);
	cr_expect_eq(names_add(names, 2, 1, component), -ENAMETOOLONG);
	component[255] = '\0';
	cr_expect_eq(names_add(names, 2, 1, component), 0);
	cr_expect_eq(names_count(names), 2);
}

Test(names, no_cgroup_is_below_itself)
{
	_cleanup_(names_freep) struct names *names = with_root(16);

	cr_expect_eq(names_add(names, 2, 2, "a"), -EINVAL);
	cr_assert_eq(names_add(names, 3, 2, "b"), 0);
	cr_assert_eq(names_add(names, 4, 3, "c"), 0);
	cr_expect_eq(names_add(names, 2, 4, "a"), -EINVAL);
	cr_expect_eq(names_count(names), 4);
	expect_path(names, 4, "cgroup:2/b/c", 0);
}

Test(names, the_number_of_names_is_bounded)
{
	_cleanup_(names_freep) struct names *names = with_root(4);

	cr_assert_eq(names_add(names, 2, 1, "a"), 0);
	cr_assert_eq(names_add(names, 3, 2, "b"), 0);
	/* This needs two entries: the cgroup and its unknown parent. Neither of them stays. */
	cr_expect_eq(names_add(names, 5, 4, "c"), -ENOSPC);
	cr_expect_eq(names_count(names), 3);
	cr_assert_eq(names_add(names, 4, 3, "c"), 0);
	cr_expect_eq(names_add(names, 5, 4, "d"), -ENOSPC);
	/*
	 * A cgroup that replaces one with children needs a new entry. If the old one has no children, no new
	 * entry is needed.
	 */
	cr_expect_eq(names_add(names, 2, 1, "other"), -ENOSPC);
	expect_path(names, 4, "/a/b/c", 1);
	cr_expect_eq(names_add(names, 4, 3, "other"), 0);
	expect_path(names, 4, "/a/b/other", 1);
	cr_expect_eq(names_count(names), 4);
	names_remove(names, 4);
	cr_expect_eq(names_add(names, 5, 3, "d"), 0);
}

/* A model that never forgets: the path of each cgroup is fixed at its birth and written down. */
#define BIRTHS 10000

struct birth {
	u64 id;
	size_t parent;
	size_t children;
	bool alive;
	char *path;
};

static u64 random_state = XORSHIFT_SEED;

static size_t random_below(size_t n)
{
	return (size_t)(xorshift(&random_state) % n);
}

static bool is_held(const struct birth *birth)
{
	return birth->alive || birth->children;
}

static void model_remove(struct birth *births, size_t i, size_t *held)
{
	births[i].alive = false;
	for (; !is_held(&births[i]); i = births[i].parent) {
		(*held)--;
		births[births[i].parent].children--;
	}
}

Test(names, paths_and_counts_of_random_cgroups_are_those_of_a_list_of_all_births)
{
	_cleanup_(names_freep) struct names *names = with_root(BIRTHS + 1);
	_cleanup_free_ struct birth *births = calloc(BIRTHS + 1, sizeof(*births));
	_cleanup_free_ size_t *alive = calloc(BIRTHS + 1, sizeof(*alive));
	size_t n_alive = 0;
	size_t held = 1;
	size_t next;

	births[0] = (struct birth){.id = 1, .alive = true, .path = strdup("")};
	for (next = 1; next <= BIRTHS; next++) {
		struct birth *birth = &births[next];
		char component[32];

		/*
		 * The number of cgroups grows over the first half. After that it shrinks and grows at random.
		 */
		while (next > BIRTHS / 2 && n_alive && random_below(2)) {
			size_t pick = random_below(n_alive);
			size_t i = alive[pick];

			alive[pick] = alive[--n_alive];
			model_remove(births, i, &held);
			names_remove(names, births[i].id);
		}
		birth->parent = n_alive && random_below(8) ? alive[random_below(n_alive)] : 0;
		birth->id = next + 1;
		birth->alive = true;
		births[birth->parent].children++;
		alive[n_alive++] = next;
		held++;
		(void)snprintf(component, sizeof(component), "c%zu", random_below(50));
		cr_assert_gt(asprintf(&birth->path, "%s/%s", births[birth->parent].path, component), 0);
		cr_assert_eq(names_add(names, birth->id, births[birth->parent].id, component), 0);
		cr_assert_eq(names_count(names), held);
	}
	for (size_t i = 1; i <= BIRTHS; i++) {
		char gone[32];

		(void)snprintf(gone, sizeof(gone), "cgroup:%zu", i + 1);
		if (is_held(&births[i]))
			expect_path(names, births[i].id, births[i].path, 1);
		else
			expect_path(names, births[i].id, gone, 0);
	}
	cr_expect_gt(n_alive, 1000);
	while (n_alive) {
		size_t pick = random_below(n_alive);

		model_remove(births, alive[pick], &held);
		names_remove(names, births[alive[pick]].id);
		alive[pick] = alive[--n_alive];
		cr_assert_eq(names_count(names), held);
	}
	cr_expect_eq(names_count(names), 1);
	for (size_t i = 0; i <= BIRTHS; i++)
		free(births[i].path);
}

Test(names, memory_of_a_name_is_bounded)
{
	const size_t before = mallinfo2().uordblks;
	_cleanup_(names_freep) struct names *names = NULL;
	char component[NAME_MAX + 1];
	size_t bytes;

	memset(component, 'a', NAME_MAX);
	component[NAME_MAX] = '\0';
	cr_assert_eq(names_new(10000, &names), 0);
	cr_assert_eq(names_add(names, 1, 0, ""), 0);
	for (u64 id = 2; id <= 10000; id++)
		cr_assert_eq(names_add(names, id, 1, component), 0);
	bytes = mallinfo2().uordblks - before;
	cr_expect_leq(bytes, 10000 * NAMES_EACH_BYTES, "%zu", bytes);
#ifndef __SANITIZE_ADDRESS__ /* mallinfo2() counts nothing with the sanitizer's allocator */
	cr_expect_geq(bytes, 10000 * NAMES_EACH_BYTES / 2, "%zu: the limit is far from the truth", bytes);
#endif
}
