// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "origin/model/pace.h"

#define START (7 * NSEC_PER_SEC)

static u64 run_all(struct pace *pace, u64 clock_ns, u64 *ret_slices)
{
	u64 ns, sum = 0;

	*ret_slices = 0;
	while ((ns = pace_next(pace, clock_ns)) > 0) {
		cr_expect_leq(ns, PACE_SLICE_NS);
		sum += ns;
		++*ret_slices;
	}
	return sum;
}

Test(pace, time_advances_with_the_clock)
{
	struct pace pace = {START};
	u64 slices;

	cr_expect_eq(pace_next(&pace, START), 0);
	cr_expect_eq(pace_next(&pace, START + 1), 1);
	cr_expect_eq(pace_next(&pace, START + 1), 0);
	cr_expect_eq(run_all(&pace, START + NSEC_PER_SEC, &slices), NSEC_PER_SEC - 1);
	cr_expect_eq(slices, NSEC_PER_SEC / PACE_SLICE_NS);
}

Test(pace, time_never_goes_back)
{
	struct pace pace = {START};

	cr_expect_eq(pace_next(&pace, START - 1), 0);
	cr_expect_eq(pace_next(&pace, START + 5), 5);
}

Test(pace, a_long_backlog_is_skipped)
{
	struct pace pace = {START};
	u64 slices;

	cr_expect_eq(run_all(&pace, START + 3600 * NSEC_PER_SEC, &slices), PACE_BACKLOG_NS);
	cr_expect_eq(pace.now_ns, START + 3600 * NSEC_PER_SEC);
	cr_expect_eq(run_all(&pace, START + 3661 * NSEC_PER_SEC, &slices), PACE_BACKLOG_NS);
	/* An interval of the greatest length runs completely. */
	cr_expect_eq(run_all(&pace, START + 3721 * NSEC_PER_SEC, &slices), 60 * NSEC_PER_SEC);
}
