// SPDX-License-Identifier: GPL-2.0
/* The limit on how many actions may start at once, and on how fast more may follow. */
#include <criterion/criterion.h>

#include "act/action_rate_limit.h"

static unsigned take(struct action_rate_limit *limit, unsigned n, u64 now_ns)
{
	unsigned taken = 0;

	for (unsigned i = 0; i < n; i++)
		taken += action_rate_limit_take(limit, now_ns);
	return taken;
}

Test(action_rate_limit, a_burst_of_twenty_is_allowed)
{
	struct action_rate_limit limit = {0};

	cr_assert_eq(take(&limit, 100, 5 * NSEC_PER_SEC), 20);
}

Test(action_rate_limit, after_the_burst_one_in_three_seconds_is_allowed)
{
	struct action_rate_limit limit = {0};
	u64 start = 1000 * NSEC_PER_SEC;

	take(&limit, 20, start);
	cr_assert_eq(take(&limit, 5, start + 3 * NSEC_PER_SEC - 1), 0);
	cr_assert_eq(take(&limit, 5, start + 3 * NSEC_PER_SEC), 1);
	cr_assert_eq(take(&limit, 5, start + 5 * NSEC_PER_SEC), 0,
		     "its rest of time is not lost, nor given twice");
	cr_assert_eq(take(&limit, 5, start + 6 * NSEC_PER_SEC), 1);
	cr_assert_eq(take(&limit, 5, start + 15 * NSEC_PER_SEC), 3);
}

Test(action_rate_limit, never_more_than_a_burst_and_its_refill)
{
	struct action_rate_limit limit = {0};
	u64 taken = 0;

	for (u64 now = 0; now < 3000; now++)
		taken += take(&limit, 3, now * NSEC_PER_SEC);
	cr_assert_eq(taken, 20 + 999);
}

Test(action_rate_limit, an_hour_of_rest_gives_no_more_than_a_burst)
{
	struct action_rate_limit limit = {0};

	take(&limit, 20, NSEC_PER_SEC);
	cr_assert_eq(take(&limit, 100, 3600 * NSEC_PER_SEC), 20);
}

Test(action_rate_limit, a_clock_that_stops_or_goes_back_allows_nothing)
{
	struct action_rate_limit limit = {0};

	take(&limit, 20, 100 * NSEC_PER_SEC);
	cr_assert_eq(take(&limit, 1, 100 * NSEC_PER_SEC), 0);
	cr_assert_eq(take(&limit, 1, 10 * NSEC_PER_SEC), 0);
}

Test(action_rate_limit, a_refused_burst_is_reported_once)
{
	struct action_rate_limit limit = {0};
	u64 refused = 0, now = 100 * NSEC_PER_SEC;

	take(&limit, 20, now);
	cr_assert_not(action_rate_limit_report(&limit, &refused), "nothing was refused yet");
	take(&limit, 7, now);
	cr_assert(action_rate_limit_report(&limit, &refused));
	cr_assert_eq(refused, 7);
	take(&limit, 7, now + 30 * NSEC_PER_SEC);
	take(&limit, 7, now + 31 * NSEC_PER_SEC);
	cr_assert_not(action_rate_limit_report(&limit, &refused), "the burst goes on");
	take(&limit, 30, now + 1000 * NSEC_PER_SEC);
	cr_assert(action_rate_limit_report(&limit, &refused), "this is another");
	cr_assert_eq(refused, 10);
}
