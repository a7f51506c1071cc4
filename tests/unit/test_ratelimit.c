// SPDX-License-Identifier: GPL-2.0
/* The token bucket. */
#include <criterion/criterion.h>

#include "base/ratelimit.h"

Test(ratelimit, bursts_and_rates_are_limited)
{
	struct ratelimit limit = {.every_ns = 10, .burst = 3};
	unsigned int taken = 0;

	for (int i = 0; i < 3; i++)
		cr_expect_eq(ratelimit_take(&limit, 1000), 0);
	cr_expect_eq(ratelimit_take(&limit, 1000), 10);
	cr_expect_eq(ratelimit_take(&limit, 1004), 6);
	cr_expect_eq(ratelimit_take(&limit, 1010), 0);
	cr_expect_eq(ratelimit_take(&limit, 1010), 10);
	/* More frequent attempts do not help. */
	for (u64 now = 2000; now < 3000; now++)
		taken += ratelimit_take(&limit, now) == 0;
	cr_expect_geq(taken, 102);
	cr_expect_leq(taken, 103);
	/* After a long time, no more than the burst is allowed. */
	for (int i = 0; i < 3; i++)
		cr_expect_eq(ratelimit_take(&limit, 1000000), 0);
	cr_expect_gt(ratelimit_take(&limit, 1000000), 0);
}
