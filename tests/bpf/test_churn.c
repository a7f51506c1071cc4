// SPDX-License-Identifier: GPL-2.0
/*
 * Cgroups are created and removed at 2,000 per second. The table has about a third of the slots that would be
 * taken if removed cgroups kept theirs until the next collection (1 s) and for the grace period of their tasks
 * (2 s), so slots must be reclaimed early. Nothing may be lost or mixed up, and no cgroup may be without a
 * name. `make bench-churn` runs this for a minute.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "base/cleanup.h"
#include "churn.h"

Test(churn, no_sample_is_lost_misattributed_or_unnamed)
{
	const struct churn_settings settings = {
		.slots = 2048,
		.rate = 2000,
		.cgroups = 8000,
		.interval_ns = NSEC_PER_SEC,
	};
	struct churn_result result;
	int r = churn(&settings, &result);

	if (r == -ENOTSUP)
		cr_skip_test("no cgroup2 tree to make cgroups in");
	cr_assert_eq(r, 0);
	if (result.others > settings.slots / 8)
		cr_skip_test("others of this machine made %llu cgroups meanwhile",
			     (unsigned long long)result.others);
	cr_expect_eq(result.cgroups, 8000);
	cr_expect_eq(result.found, result.samples, "%llu of %llu", (unsigned long long)result.found,
		     (unsigned long long)result.samples);
	cr_expect_eq(result.nameless, 0);
	cr_expect_eq(result.short_of, 0);
	cr_expect_eq(result.mixed, 0);
	cr_expect_eq(result.births_without_slot, 0);
	cr_expect_gt(result.rooms, 0, "the table was never short of slots: nothing was tested");
	cr_expect_eq(result.slots_taken, 0, "%llu slots did not come back",
		     (unsigned long long)result.slots_taken);
	cr_expect_not(result.told_idle);
	/*
	 * The budget (pebsd(8), MEMORY): 10 MB plus 2,500 bytes for each cgroup and event that had samples
	 * recently.
	 */
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer's own memory is many times the daemon's */
	cr_expect_leq(result.anonymous_end, 10000000 + 2500 * 2000ULL);
#endif
}
