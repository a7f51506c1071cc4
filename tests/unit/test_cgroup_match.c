// SPDX-License-Identifier: GPL-2.0
/* The names by which a user may mean a cgroup. */
#include <criterion/criterion.h>
#include <string.h>

#include "cgroup/cgroup_match.h"

#define DB "/system.slice/system-postgresql.slice/postgresql@15-main.service"

Test(cgroup_match, the_path_and_each_end_of_it_after_a_slash_match)
{
	cr_expect(cgroup_match(DB, NULL, DB));
	cr_expect(cgroup_match(DB, NULL, "postgresql@15-main.service"));
	cr_expect(cgroup_match(DB, NULL, "system-postgresql.slice/postgresql@15-main.service"));
	cr_expect_not(cgroup_match(DB, NULL, "main.service"), "not the end of a component");
	cr_expect_not(cgroup_match(DB, NULL, "system.slice"), "not the start");
	cr_expect_not(cgroup_match(DB, NULL, "x" DB));
	cr_expect_not(cgroup_match(DB, NULL, ""));
	cr_expect_not(cgroup_match("/", NULL, ""));
	cr_expect(cgroup_match("/", NULL, "/"));
}

Test(cgroup_match, a_name_with_a_slash_at_its_start_is_a_whole_path)
{
	cr_expect_not(cgroup_match(DB, NULL, "/postgresql@15-main.service"));
	cr_expect_not(cgroup_match("/a/b", NULL, "/b"));
	cr_expect_not(cgroup_match("/a//b", NULL, "/b"));
}

Test(cgroup_match, the_suffix_of_a_unit_may_be_left_out)
{
	cr_expect(cgroup_match(DB, NULL, "postgresql@15-main"));
	cr_expect(cgroup_match("/user.slice/user-0.slice/session-3.scope", NULL, "session-3"));
	cr_expect(cgroup_match("/user.slice", NULL, "user"));
	cr_expect(cgroup_match("/system.slice/a.service", NULL, "/system.slice/a"));
	cr_expect_not(cgroup_match("/system.slice/a.socket", NULL, "a"));
	cr_expect_not(cgroup_match("/system.slice/a.service/b", NULL, "a"));
}

Test(cgroup_match, names_that_are_not_paths_match_after_their_colon)
{
	cr_expect(cgroup_match("model:streaming", NULL, "streaming"));
	cr_expect(cgroup_match("comm:a:b", NULL, "a:b"));
	cr_expect_not(cgroup_match("comm:a:b", NULL, "b"));
	cr_expect(cgroup_match("comm:a/b", NULL, "a/b"));
	cr_expect_not(cgroup_match("other", NULL, "her"));
	cr_expect_not(cgroup_match("/a:b", NULL, "b"), "a path may contain a colon");
}

Test(cgroup_match, labels_match_alone_and_joined)
{
	const struct container labels = {.text = {[CONTAINER_LABEL_NAMESPACE] = "shop",
						  [CONTAINER_LABEL_POD] = "checkout-6d4f",
						  [CONTAINER_LABEL_CONTAINER] = "app",
						  [CONTAINER_LABEL_UNIT] = "kubepods.slice"}};
	const struct container pod = {.text = {[CONTAINER_LABEL_POD] = "checkout-6d4f"}};
	static const char *const names[] = {"app", "checkout-6d4f", "checkout-6d4f/app", "shop/checkout-6d4f",
					    "shop/checkout-6d4f/app"};
	static const char *const others[] = {"shop", "shop/app", "checkout", "kubepods.slice", "app/", ""};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect(cgroup_match("/kubepods.slice/x", &labels, names[i]), "%s", names[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect_not(cgroup_match("/kubepods.slice/x", &labels, others[i]), "%s", others[i]);
	cr_expect(cgroup_match("/x", &pod, "checkout-6d4f"));
	cr_expect_not(cgroup_match("/x", &pod, "checkout-6d4f/app"));
}

Test(cgroup_match, the_start_of_a_containers_id_matches)
{
	const struct container labels = {.text = {[CONTAINER_LABEL_ID] = "3f4a1b9c0d2e5f60718293a4b5c6d7e8"}};

	cr_expect(cgroup_match("/x", &labels, "3f4a1b9c0d2e"));
	cr_expect(cgroup_match("/x", &labels, "3f4a1b9c0d2e5f60718293a4b5c6d7e8"));
	cr_expect_not(cgroup_match("/x", &labels, "3f4a1b9c0d2"), "too short");
	cr_expect_not(cgroup_match("/x", &labels, "4a1b9c0d2e5f60"), "not the start");
	cr_expect_not(cgroup_match("/x", &labels, "3f4a1b9c0d2f"));
}

Test(cgroup_match, the_shown_form_of_any_bytes_matches)
{
	cr_expect(cgroup_match("/a/\xff", NULL,
			       "\xef\xbf\xbd"
			       "ff"));
	cr_expect_not(cgroup_match("/a/\xff", NULL, "\xff"));
}

Test(cgroup_match, a_name_longer_than_any_path_matches_nothing)
{
	static char path[8192], name[8192];

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	memcpy(name, path + 1, sizeof(path) - 1);
	cr_expect_not(cgroup_match(path, NULL, name));
	name[4096] = path[4097] = '\0';
	cr_expect(cgroup_match(path, NULL, name));
}
