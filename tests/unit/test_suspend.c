// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "sampling/suspend.h"

#define HOUR_NS (3600 * NSEC_PER_SEC)

static struct suspend looked(u64 boottime_ns, u64 monotonic_ns)
{
	struct suspend suspend = {0};

	cr_assert_eq(suspend_judge(&suspend, boottime_ns, monotonic_ns), 0);
	return suspend;
}

Test(suspend, the_first_reading_reports_no_suspension)
{
	(void)looked(9 * HOUR_NS, HOUR_NS);
}

Test(suspend, a_running_machine_was_not_suspended)
{
	struct suspend suspend = looked(9 * HOUR_NS, HOUR_NS);

	for (u64 second = 1; second < 100; second++)
		cr_expect_eq(suspend_judge(&suspend, 9 * HOUR_NS + second * NSEC_PER_SEC,
					   HOUR_NS + second * NSEC_PER_SEC),
			     0);
}

Test(suspend, a_suspended_machine_is_noticed_once)
{
	struct suspend suspend = looked(9 * HOUR_NS, HOUR_NS);

	cr_expect_eq(suspend_judge(&suspend, 17 * HOUR_NS + NSEC_PER_SEC, HOUR_NS + NSEC_PER_SEC),
		     8 * HOUR_NS);
	cr_expect_eq(suspend_judge(&suspend, 17 * HOUR_NS + 2 * NSEC_PER_SEC, HOUR_NS + 2 * NSEC_PER_SEC), 0);
	cr_expect_eq(suspend_judge(&suspend, 17 * HOUR_NS + 4 * NSEC_PER_SEC, HOUR_NS + 3 * NSEC_PER_SEC),
		     NSEC_PER_SEC);
}

/* Either of the two clocks may be read later. */
Test(suspend, a_preemption_between_two_readings_is_not_a_suspension)
{
	struct suspend suspend = looked(HOUR_NS, HOUR_NS + 90 * NSEC_PER_MSEC);

	cr_expect_eq(suspend_judge(&suspend, HOUR_NS + NSEC_PER_SEC, HOUR_NS + NSEC_PER_SEC), 0);
	cr_expect_eq(suspend_judge(&suspend, HOUR_NS + NSEC_PER_SEC, HOUR_NS + 3 * NSEC_PER_SEC), 0);
}
