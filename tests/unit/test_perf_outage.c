// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "origin/perf/perf_outage.h"

Test(perf_outage, a_counting_event_has_no_outage)
{
	struct perf_outage outage;

	perf_outage_start(&outage, 1000);
	perf_outage_note(&outage, false, 2000);
	perf_outage_note(&outage, false, 3000);
	cr_expect_eq(outage.ns, 0);
}

Test(perf_outage, an_event_that_never_counted_is_in_error_since_it_was_enabled)
{
	struct perf_outage outage;

	perf_outage_start(&outage, 1000);
	perf_outage_note(&outage, true, 1500);
	cr_expect_eq(outage.ns, 500);
	perf_outage_note(&outage, true, 2500);
	cr_expect_eq(outage.ns, 1500);
}

/* The outage began at an unknown time between two readings. */
Test(perf_outage, an_outage_is_counted_from_the_first_reading_with_it)
{
	struct perf_outage outage;

	perf_outage_start(&outage, 1000);
	perf_outage_note(&outage, false, 2000);
	perf_outage_note(&outage, true, 3000);
	cr_expect_eq(outage.ns, 0);
	perf_outage_note(&outage, true, 4000);
	cr_expect_eq(outage.ns, 1000);
}

Test(perf_outage, an_outage_can_end_and_recur)
{
	struct perf_outage outage;

	perf_outage_start(&outage, 1000);
	perf_outage_note(&outage, true, 1500);
	perf_outage_note(&outage, false, 2500);
	perf_outage_note(&outage, false, 3500);
	cr_expect_eq(outage.ns, 500);
	perf_outage_note(&outage, true, 4500);
	perf_outage_note(&outage, true, 4600);
	cr_expect_eq(outage.ns, 600);
}

Test(perf_outage, a_stopped_clock_adds_nothing)
{
	struct perf_outage outage;

	perf_outage_start(&outage, 1000);
	perf_outage_note(&outage, true, 1000);
	perf_outage_note(&outage, true, 900);
	cr_expect_eq(outage.ns, 0);
}
