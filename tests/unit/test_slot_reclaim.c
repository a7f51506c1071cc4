// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "schedule/slot_reclaim.h"

/*
 * Once slots have not been short for SLOT_RECLAIM_CALM_NS, no further reclaim is scheduled: only collections
 * reclaim the slots of removed cgroups.
 */
Test(slot_reclaim, reclaiming_continues_shortly_after_the_shortage)
{
	const u64 short_ns = 1000 * NSEC_PER_SEC;

	cr_expect(slot_reclaim_goes_on(1, short_ns, short_ns));
	cr_expect(slot_reclaim_goes_on(1, short_ns + SLOT_RECLAIM_CALM_NS - 1, short_ns));
	cr_expect_not(slot_reclaim_goes_on(1, short_ns + SLOT_RECLAIM_CALM_NS, short_ns), "enough for long");
	cr_expect_not(slot_reclaim_goes_on(0, short_ns, short_ns), "nothing is on its way");
	cr_expect(slot_reclaim_goes_on(1, short_ns - 1, short_ns));
}
