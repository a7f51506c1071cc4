// SPDX-License-Identifier: GPL-2.0
/*
 * The limit on the memory of unread replies, and the choice of the connection that is closed in favour of
 * another one.
 */
#include <criterion/criterion.h>

#include "varlink/varlink_budget.h"

#define MIB  ((size_t)1 << 20)
#define NOW  (10ULL * VARLINK_BUDGET_US)
#define LATE (NOW - VARLINK_BUDGET_US) /* a reply that has waited since LATE may be dropped */

#define LOADS(...)                                  \
	(const struct varlink_load[]){__VA_ARGS__}, \
		sizeof((const struct varlink_load[]){__VA_ARGS__}) / sizeof(struct varlink_load)
#define yields(user, ...) varlink_budget_yield(LOADS(__VA_ARGS__), user, MIB, NOW, VARLINK_BUDGET_US)

Test(varlink_budget, each_user_has_a_share)
{
	cr_expect(varlink_budget_for(NULL, 0, 0, MIB));
	cr_expect(varlink_budget_for(LOADS({.user = 7, .held = 4 * MIB}, {.user = 7, .held = 3 * MIB}), 7,
				     MIB));
	cr_expect_not(varlink_budget_for(LOADS({.user = 7, .held = 4 * MIB}, {.user = 7, .held = 3 * MIB}), 7,
					 MIB + 1));
	cr_expect(varlink_budget_for(LOADS({.user = 7, .held = 8 * MIB}), 0, MIB),
		  "another user's is another");
}

Test(varlink_budget, all_users_have_one_limit)
{
	cr_expect_not(varlink_budget_for(LOADS({.user = 1, .held = 8 * MIB}, {.user = 2, .held = 8 * MIB},
					       {.user = 3, .held = 8 * MIB}),
					 4, 1));
}

Test(varlink_budget, the_slowest_reader_of_the_user_is_disconnected)
{
	cr_expect_eq(yields(7, {7, 4 * MIB, LATE, 900}, {7, 4 * MIB, LATE, 100}, {7, 0, LATE, 0}), 1);
	cr_expect_eq(yields(7, {7, 4 * MIB, LATE, 900}, {7, 4 * MIB, 1, 1000}), 1, "in bytes a second");
}

Test(varlink_budget, nobody_is_disconnected_within_the_patience)
{
	cr_expect_eq(yields(7, {7, 8 * MIB, LATE + 1, 0}), -1);
	cr_expect_eq(varlink_budget_yield(LOADS({7, 8 * MIB, NOW, 0}), 7, MIB, NOW, 0), 0,
		     "without patience");
}

Test(varlink_budget, a_user_at_the_limit_affects_no_other_user)
{
	cr_expect_eq(yields(7, {8, 8 * MIB, 1, 0}, {7, 8 * MIB, LATE, 500}), 1);
}

Test(varlink_budget, the_user_with_the_most_memory_yields_to_another)
{
	cr_expect_eq(yields(0, {1, 8 * MIB, LATE, 5}, {2, 7 * MIB, 1, 0}, {2, 2 * MIB, LATE, 0},
			    {3, 7 * MIB, 1, 0}),
		     1);
	cr_expect_eq(yields(2, {1, 5 * MIB, LATE, 0}, {2, 5 * MIB, LATE, 9}), 1,
		     "one who holds as much pays itself");
}
