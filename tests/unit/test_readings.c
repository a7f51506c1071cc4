// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <errno.h>

#include "window/readings.h"

#define GAP READINGS_GAP_NS

/* Pushes a reading at `at` times the gap. */
static void push(struct readings *readings, u64 at, u64 seen)
{
	readings_push(readings, at * GAP,
		      &(struct reading){.seen = seen, .counted = true, .expected = seen + 1});
}

Test(readings, the_last_reading_before_a_time_is_found)
{
	_cleanup_(readings_freep) struct readings *readings = NULL;

	cr_assert_eq(readings_new(4 * GAP, 1, &readings), 0);
	cr_expect_eq(readings_at(readings, 0, 100 * GAP).seen, 0, "nothing was read yet");
	push(readings, 10, 1);
	push(readings, 20, 2);
	cr_expect_eq(readings_at(readings, 0, 9 * GAP).seen, 0, "before the first, all began at 0");
	cr_expect_eq(readings_at(readings, 0, 10 * GAP).seen, 1);
	cr_expect_eq(readings_at(readings, 0, 19 * GAP).seen, 1);
	cr_expect_eq(readings_at(readings, 0, 1000 * GAP).seen, 2);
}

Test(readings, forgotten_readings_do_not_count_as_zero)
{
	_cleanup_(readings_freep) struct readings *readings = NULL;

	cr_assert_eq(readings_new(GAP, 1, &readings), 0);
	for (u64 i = 1; i <= 5; i++)
		push(readings, i * 10, i);
	cr_expect_eq(readings_at(readings, 0, 5 * GAP).seen, 3, "the oldest that is kept");
	cr_expect_eq(readings_at(readings, 0, 45 * GAP).seen, 4);
}

Test(readings, a_window_has_the_time_paused_in_it)
{
	const struct reading before = {.counted = true, .paused_ns = 40},
			     now = {.counted = true, .paused_ns = 100};

	cr_expect_eq(reading_delta(&now, &before).paused_ns, 60);
}

Test(readings, missing_samples_are_unexplained_losses)
{
	const struct reading before = {.seen = 80, .counted = true, .expected = 100};
	struct reading now = {.seen = 90, .malformed = 4, .counted = true, .expected = 100};
	struct reading replayed = {.seen = 90, .malformed = 1};

	reading_count_losses(&now, &before);
	cr_expect_eq(now.unexplained, 6);
	reading_count_losses(&replayed, &before);
	cr_expect_eq(replayed.unexplained, 0, "what is not counted is not missing");
}

/* IBS samples operations of every kind. Samples of other kinds are filtered: neither seen nor lost. */
Test(readings, filtered_samples_are_not_missing)
{
	const struct reading before = {.counted = true, .expected = 100, .filtered = 30};
	struct reading now = {.seen = 40, .filtered = 50, .malformed = 4, .counted = true, .expected = 100};

	reading_count_losses(&now, &before);
	cr_expect_eq(now.unexplained, 6);
	cr_expect_eq(reading_delta(&now, &before).filtered, 20);
}

/* The page of the event reports a sample before the program has accounted it. */
Test(readings, a_sample_in_progress_is_not_lost)
{
	const struct reading first = {.counted = true};
	struct reading under_way = {.seen = 100, .counted = true, .expected = 101};
	struct reading came = {.seen = 105, .counted = true, .expected = 105};
	struct reading another = {.seen = 109, .counted = true, .expected = 110};
	struct reading lost = {.seen = 119, .counted = true, .expected = 120};

	reading_count_losses(&under_way, &first);
	cr_expect_eq(under_way.unexplained, 0);
	reading_count_losses(&came, &under_way);
	cr_expect_eq(came.unexplained, 0);
	reading_count_losses(&another, &came);
	cr_expect_eq(another.unexplained, 0);
	reading_count_losses(&lost, &another);
	cr_expect_eq(lost.unexplained, 1);
}

/* The loss in `missed` is certain, because it cannot include a sample that is still in progress. */
Test(readings, a_certain_loss_is_counted_at_once)
{
	const struct reading before = {.counted = true, .seen = 11, .expected = 11};
	struct reading now = {.counted = true, .seen = 11, .expected = 779, .missed = 760};
	struct reading later = now;

	reading_count_losses(&now, &before);
	cr_expect_eq(now.unexplained, 760, "the rest may be under way");
	reading_count_losses(&later, &now);
	cr_expect_eq(later.unexplained, 768);
	later = (struct reading){.counted = true, .seen = 11, .expected = 15, .missed = 9};
	reading_count_losses(&later, &before);
	cr_expect_eq(later.unexplained, 4, "never more than what is missing");
}

/* However many samples come between two collections, none of them replaces one that was lost. */
Test(readings, a_loss_among_many_samples_is_counted_a_collection_later)
{
	struct reading before = {.counted = true}, now = {.counted = true};

	for (u64 second = 1; second <= 100; second++) {
		now.expected = 1000 * second;
		now.seen = 995 * second;
		reading_count_losses(&now, &before);
		cr_assert_eq(now.unexplained, 5 * (second - 1), "second %llu", (unsigned long long)second);
		before = now;
	}
	now.expected += 1000;
	now.seen += 1000;
	reading_count_losses(&now, &before);
	cr_expect_eq(now.unexplained, 500, "none is lost any more");
}

Test(readings, a_counted_loss_is_never_subtracted)
{
	const struct reading before = {.counted = true, .expected = 100, .unexplained = 5, .waiting_ns = 70};
	struct reading now = {
		.seen = 101, .counted = true, .expected = 100, .enabled_ns = 1000, .running_ns = 950};

	reading_count_losses(&now, &before);
	cr_expect_eq(now.unexplained, 5);
	cr_expect_eq(now.waiting_ns, 70);
	now.running_ns = 900;
	reading_count_losses(&now, &before);
	cr_expect_eq(now.waiting_ns, 100);
}

Test(readings, throttling_of_a_window_is_that_of_its_time)
{
	const struct reading before = {.throttled_ns = 100, .throttles = 3, .rearmed = 1};
	const struct reading now = {
		.throttle_known = true, .throttled_ns = 140, .throttles = 5, .rearmed = 4};
	struct reading delta = reading_delta(&now, &before);

	cr_expect(delta.throttle_known);
	cr_expect_eq(delta.throttled_ns, 40);
	cr_expect_eq(delta.throttles, 2);
	cr_expect_eq(delta.rearmed, 3);
	cr_expect_not(reading_delta(&before, &now).throttle_known);
}

Test(readings, running_ratio_is_absent_before_any_time_passed)
{
	double ratio;

	cr_expect_not(reading_running_ratio(&(struct reading){.counted = true}, &ratio));
	cr_expect_not(reading_running_ratio(&(struct reading){.enabled_ns = 5}, &ratio));
	cr_expect(reading_running_ratio(&(struct reading){.counted = true, .enabled_ns = 4, .running_ns = 1},
					&ratio));
	cr_expect_float_eq(ratio, 0.25, 1e-9);
}

Test(readings, the_span_is_kept_for_any_collection_rate)
{
	_cleanup_(readings_freep) struct readings *readings = NULL;

	cr_assert_eq(readings_new(10 * GAP, 1, &readings), 0);
	for (u64 i = 0; i <= 100000; i++)
		readings_push(readings, i * GAP / 1000, &(struct reading){.seen = i});
	cr_expect_eq(readings_at(readings, 0, 100 * GAP).seen, 100000, "the newest is always there");
	for (u64 back = 1; back <= 10; back++) {
		u64 seen = readings_at(readings, 0, (100 - back) * GAP).seen;

		cr_expect_leq(seen, (100 - back) * 1000);
		cr_expect_gt(seen, (100 - back - 2) * 1000);
	}
}

/* A window that was merged may cover twice its time, and one collection more. */
Test(readings, twice_the_span_is_kept)
{
	_cleanup_(readings_freep) struct readings *readings = NULL;

	cr_assert_eq(readings_new(600 * GAP, 1, &readings), 0);
	for (u64 i = 1; i <= 5000; i++)
		push(readings, i, i);
	for (u64 i = 3799; i <= 5000; i++)
		cr_assert_eq(readings_at(readings, 0, i * GAP).seen, i, "%llu", (unsigned long long)i);
	cr_expect_eq(readings_at(readings, 0, GAP).seen, 3799, "the oldest that is kept");
}

Test(readings, too_many_events_are_refused)
{
	struct readings *readings;

	cr_expect_eq(readings_new(1, EVENTS_MAX + 1, &readings), -EINVAL);
}

Test(readings, scale_is_enabled_time_divided_by_running_time_of_the_interval)
{
	const struct reading before = {.counted = true, .enabled_ns = 1000, .running_ns = 1000};
	const struct reading always = {.counted = true, .enabled_ns = 2000, .running_ns = 2000};
	const struct reading half = {.counted = true, .enabled_ns = 2000, .running_ns = 1500};
	const struct reading rarely = {.counted = true, .enabled_ns = 2000, .running_ns = 1001};
	const struct reading never = {.counted = true, .enabled_ns = 2000, .running_ns = 1000};
	const struct reading unknown = {.enabled_ns = 2000, .running_ns = 1500};

	cr_expect_float_eq(reading_scale(&always, &before), 1, 1e-9);
	cr_expect_float_eq(reading_scale(&half, &before), 2, 1e-9);
	cr_expect_float_eq(reading_scale(&rarely, &before), READING_SCALE_MAX, 1e-9);
	cr_expect_float_eq(reading_scale(&never, &before), 1, 1e-9);
	cr_expect_float_eq(reading_scale(&unknown, &before), 1, 1e-9);
	cr_expect_float_eq(reading_scale(&before, &half), 1, 1e-9, "the counts began again");
}
