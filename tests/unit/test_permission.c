// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "export/control/permission.h"

static bool grants(const struct permission *permission, enum permission_level level, uid_t uid, gid_t gid,
		   gid_t more)
{
	const struct ucred credentials = {.pid = 1, .uid = uid, .gid = gid};
	const gid_t groups[] = {gid, more};
	const struct permission_peer peer = {.credentials = &credentials, .groups = groups, .n_groups = 2};

	return permission_grants(permission, level, &peer);
}

static void expect_text(const struct permission *permission, enum permission_level level, const char *text)
{
	_cleanup_free_ char *found = permission_text(permission, level);

	cr_expect_str_eq(found, text);
}

Test(permission, without_a_configured_name_only_root_is_permitted)
{
	const struct permission nobody = {0};

	cr_expect(grants(&nobody, PERMISSION_DETAIL, 0, 5, 6));
	cr_expect(grants(&nobody, PERMISSION_ROOT, 0, 5, 6));
	/*
	 * The group 0 does not stand for the user root. An account that is not set does not stand for id 0.
	 */
	cr_expect_not(grants(&nobody, PERMISSION_DETAIL, 1000, 0, 0));
	cr_expect_not(grants(&nobody, PERMISSION_ROOT, 1000, 0, 0));
	expect_text(&nobody, PERMISSION_DETAIL,
		    "root alone (`detail` in [control] can permit a user or group)");
	expect_text(&nobody, PERMISSION_ROOT, "root alone");
}

/* Only root may call a method without a level. */
Test(permission, without_a_level_only_root_is_permitted)
{
	const struct permission anna = {.name = "anna", .has_user = true, .user = 1000};

	cr_expect_not(grants(&anna, (enum permission_level)0, 1000, 5, 6));
	cr_expect(grants(&anna, (enum permission_level)0, 0, 5, 6));
	cr_expect(grants(&anna, PERMISSION_ASK, 1001, 5, 6));
}

Test(permission, the_user_who_runs_the_daemon_has_every_level)
{
	struct permission own = {.has_own = true, .own = 1000};

	cr_expect(grants(&own, PERMISSION_DETAIL, 1000, 5, 6));
	cr_expect(grants(&own, PERMISSION_ROOT, 1000, 5, 6));
	cr_expect_not(grants(&own, PERMISSION_DETAIL, 1001, 5, 6));
	expect_text(&own, PERMISSION_ROOT, "root and the user who runs pebsd");
	permission_resolve("root", &own);
	cr_expect(grants(&own, PERMISSION_ROOT, 1000, 5, 6));
	(void)snprintf(own.name, sizeof(own.name), "anna");
	own.has_user = true;
	own.user = 1002;
	expect_text(&own, PERMISSION_DETAIL, "root, the user who runs pebsd and the user anna");
}

Test(permission, a_named_user_is_permitted)
{
	const struct permission anna = {.name = "anna", .has_user = true, .user = 1000};

	cr_expect(grants(&anna, PERMISSION_DETAIL, 1000, 5, 6));
	cr_expect_not(grants(&anna, PERMISSION_ROOT, 1000, 5, 6));
	cr_expect_not(grants(&anna, PERMISSION_DETAIL, 1001, 1000, 1000));
	expect_text(&anna, PERMISSION_DETAIL, "root and the user anna");
	expect_text(&anna, PERMISSION_ROOT, "root alone");
}

Test(permission, any_group_of_the_caller_counts)
{
	const struct permission ops = {.name = "ops", .has_group = true, .group = 70};

	cr_expect(grants(&ops, PERMISSION_DETAIL, 1000, 70, 6));
	cr_expect(grants(&ops, PERMISSION_DETAIL, 1000, 5, 70));
	cr_expect_not(grants(&ops, PERMISSION_DETAIL, 70, 5, 6));
	cr_expect_not(grants(&ops, PERMISSION_ROOT, 1000, 70, 70));
	expect_text(&ops, PERMISSION_DETAIL, "root and the group ops");
}

Test(permission, a_name_of_user_and_group_permits_both)
{
	const struct permission both = {
		.name = "ops", .has_user = true, .user = 1000, .has_group = true, .group = 70};

	cr_expect(grants(&both, PERMISSION_DETAIL, 1000, 5, 6));
	cr_expect(grants(&both, PERMISSION_DETAIL, 1001, 5, 70));
	cr_expect_not(grants(&both, PERMISSION_DETAIL, 1001, 5, 6));
	expect_text(&both, PERMISSION_DETAIL, "root, the user ops and the group ops");
}

Test(permission, names_are_looked_up)
{
	struct permission permission = {0};

	permission_resolve("nobody", &permission);
	cr_expect(permission.has_user);
	cr_expect_eq(permission.user, 65534);
	permission_resolve("adm", &permission);
	cr_expect_not(permission.has_user);
	cr_expect(permission.has_group);
	permission_resolve("root", &permission);
	cr_expect_not(permission.has_user || permission.has_group);
	permission_resolve("there-is-no-such-account", &permission);
	cr_expect_not(permission.has_user || permission.has_group);
}
