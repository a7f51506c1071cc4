// SPDX-License-Identifier: GPL-2.0
/* The choice of the connection that is closed for a new one when the maximum is reached. */
#include <criterion/criterion.h>

#include "varlink/varlink_limits.h"

#define NOW (10ULL * VARLINK_BUSY_US)

#define yield(user, ...)                                                                        \
	varlink_limits_yield((const struct varlink_limited_connection[]){__VA_ARGS__},          \
			     sizeof((const struct varlink_limited_connection[]){__VA_ARGS__}) / \
				     sizeof(struct varlink_limited_connection),                 \
			     user, NOW)

Test(varlink_limits, of_one_user_the_longest_silent_connection_is_closed)
{
	cr_expect_eq(yield(0, {3, 0, false}, {1, 0, false}, {2, 0, false}), 1);
}

Test(varlink_limits, a_recently_active_connection_is_not_closed_for_the_same_user)
{
	cr_expect_eq(yield(0, {NOW - VARLINK_BUSY_US + 1, 0, false}, {NOW, 0, false}), -1);
	cr_expect_eq(yield(0, {NOW - VARLINK_BUSY_US, 0, false}, {NOW, 0, false}), 0);
}

Test(varlink_limits, a_watching_connection_is_not_closed_for_the_same_user)
{
	cr_expect_eq(yield(0, {1, 0, true}, {2, 0, true}), -1);
	cr_expect_eq(yield(0, {1, 0, true}, {2, 0, false}), 1);
}

Test(varlink_limits, one_users_crowd_does_not_keep_another_user_out)
{
	cr_expect_eq(yield(0, {NOW, 7, false}, {NOW - 1, 7, false}, {NOW, 7, false}), 1);
	cr_expect_eq(yield(0, {2, 7, true}, {1, 7, true}, {3, 7, true}), 1, "not by watching either");
	cr_expect_eq(yield(0, {2, 7, true}, {NOW, 7, false}, {3, 7, true}), 1, "who watches goes last");
}

Test(varlink_limits, the_user_with_most_connections_loses_one)
{
	cr_expect_eq(yield(0, {1, 8, false}, {5, 7, false}, {6, 7, false}, {4, 7, false}), 3);
}

Test(varlink_limits, a_user_with_many_connections_takes_none_from_others)
{
	cr_expect_eq(yield(7, {1, 8, false}, {NOW, 7, false}, {NOW, 7, false}), -1);
	cr_expect_eq(yield(7, {1, 8, false}, {1, 8, false}, {NOW, 7, false}), -1,
		     "with one more it would have as many");
	cr_expect_eq(yield(7, {1, 8, false}, {2, 8, false}, {3, 8, false}, {NOW, 7, false}), 0);
}

Test(varlink_limits, without_connections_none_is_closed)
{
	cr_expect_eq(varlink_limits_yield(NULL, 0, 0, NOW), -1);
}
