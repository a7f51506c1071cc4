// SPDX-License-Identifier: GPL-2.0
/* The short names of the cgroups of one snapshot after another. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "export/json/json_names.h"

/* On a host with more cgroups than slots, the names would be made again at every snapshot. */
Test(json_names, a_cgroup_without_slot_is_not_removed)
{
	static struct snapshot_cgroup cgroups[] = {{.path = "/a/web"}, {.path = "/b/web", .alive = true}};
	static char lost[] = "/a/web";
	static char *paths[] = {lost};
	static const struct no_slot list = {.paths = paths, .n = 1};
	static const struct snapshot snapshot = {.cgroups = cgroups, .n_cgroups = 2, .no_slot = &list};
	_cleanup_(short_names_freep) struct short_names *names = NULL;
	bool longer = false;

	cr_assert_eq(json_names_new(&snapshot, &names), 0);
	cr_expect_str_eq(short_names_find(names, "/a/web"), "a/web");
	for (unsigned i = 0; i < 2; i++) {
		cr_assert_eq(json_names_add(&snapshot, names, &longer), 0);
		cr_expect(!longer, "snapshot %u", i);
	}
}

Test(json_names, names_may_be_too_long_after_a_cgroup_was_removed)
{
	static struct snapshot_cgroup cgroups[] = {{.path = "/a/web", .alive = true},
						   {.path = "/b/web", .alive = true}};
	static const struct no_slot list = {0};
	static const struct snapshot snapshot = {.cgroups = cgroups, .n_cgroups = 2, .no_slot = &list};
	_cleanup_(short_names_freep) struct short_names *names = NULL;
	bool longer = false;

	cr_assert_eq(json_names_new(&snapshot, &names), 0);
	cgroups[0].alive = false;
	cr_assert_eq(json_names_add(&snapshot, names, &longer), 0);
	cr_expect(longer);
	longer = false;
	cr_assert_eq(json_names_add(&snapshot, names, &longer), 0);
	cr_expect(!longer, "it was removed before");
}
