// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "alerts/alerts_time.h"

#define SECOND NSEC_PER_SEC

Test(alerts_time, a_healthy_collection_of_two_cpus_has_no_unsampled_time)
{
	const struct reading before = {.counted = true,
				       .expected = 100,
				       .enabled_ns = SECOND,
				       .running_ns = SECOND},
			     now = {.counted = true,
				    .expected = 160,
				    .enabled_ns = 3 * SECOND,
				    .running_ns = 2 * SECOND,
				    .malformed = 1,
				    .unexplained = 2};
	struct sliding_time time = alerts_time(&now, &before, SECOND, 2);

	cr_assert_eq(time.elapsed_ns, SECOND);
	cr_assert_eq(time.enabled_ns, 2 * SECOND);
	cr_assert_eq(time.running_ns, SECOND);
	cr_assert_eq(time.expected, 60);
	cr_assert_eq(time.lost, 3);
	cr_assert_eq(time.unsampled_ns, 0);
}

/* A replay reports no times of its events. That must not look like a lost source. */
Test(alerts_time, uncounted_times_are_unknown)
{
	const struct reading nothing = {0};
	struct sliding_time time = alerts_time(&nothing, &nothing, SECOND, 1);

	cr_assert_eq(time.elapsed_ns, SECOND);
	cr_assert_eq(time.enabled_ns, 0);
	cr_assert_eq(time.unsampled_ns, 0);
}

/* Sampling was paused for half of the collection, on both CPUs. */
Test(alerts_time, a_pause_counts_as_unsampled)
{
	const struct reading before = {.counted = true}, now = {.counted = true,
								.enabled_ns = SECOND,
								.running_ns = SECOND,
								.paused_ns = SECOND};

	cr_assert_eq(alerts_time(&now, &before, SECOND, 2).unsampled_ns, SECOND / 2);
	/*
	 * The number of CPUs is not known: the pause is taken to be as long as possible, and at most as long
	 * as the collection.
	 */
	cr_assert_eq(alerts_time(&now, &before, SECOND / 2, 0).unsampled_ns, SECOND / 2);
}

Test(alerts_time, an_event_open_on_no_cpu_counts_as_unsampled)
{
	const struct reading same = {
		.counted = true, .expected = 7, .enabled_ns = SECOND, .running_ns = SECOND};

	cr_assert_eq(alerts_time(&same, &same, SECOND, 2).unsampled_ns, SECOND);
}

Test(alerts_time, times_that_decrease_count_as_not_running)
{
	const struct reading before = {.counted = true,
				       .expected = 9,
				       .enabled_ns = 5,
				       .running_ns = 5,
				       .malformed = 3},
			     now = {.counted = true, .enabled_ns = 7, .running_ns = 4};
	struct sliding_time time = alerts_time(&now, &before, SECOND, 1);

	cr_assert_eq(time.enabled_ns, 2);
	cr_assert_eq(time.running_ns, 0);
	cr_assert_eq(time.expected, 0);
	cr_assert_eq(time.lost, 0);
}
