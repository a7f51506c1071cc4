// SPDX-License-Identifier: GPL-2.0
/*
 * The conclusions of a calibration from its rounds. The measurement itself is tested in
 * tests/bpf/test_calibrate_measure.c.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "govern/calibrate.h"

static struct calibrate_round rounds[CALIBRATE_ROUNDS];
static struct calibrate_timing result;

/* 50 samples of 1,200 ns each, during work of 1 ms whose own duration varies slightly. */
static void setup(void)
{
	for (size_t i = 0; i < CALIBRATE_ROUNDS; i++)
		rounds[i] = (struct calibrate_round){
			.with_ns = 1e6 + 50 * 1200 + (i % 3 ? 4000 : -5000),
			.without_ns = 1e6,
			.samples = 50,
		};
}

TestSuite(calibrate, .init = setup);

Test(calibrate, a_sample_takes_the_median_of_the_rounds)
{
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_assert(result.known);
	cr_expect_float_eq(result.ns, 1280, 1e-6);
	cr_expect_str_empty(result.reason);
}

Test(calibrate, the_rate_is_that_of_the_halves_with_samples)
{
	for (size_t i = 0; i < CALIBRATE_ROUNDS; i++)
		rounds[i] = (struct calibrate_round){.with_ns = 2e6, .without_ns = 1.9e6, .samples = 50};
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_assert(result.known);
	cr_expect_float_eq(result.per_second, 25000, 1e-6);
}

/* Pieces of 10 us with one sample each, which takes 3 us to 4.5 us. The timer tick interrupts two of them. */
Test(calibrate, one_sample_in_a_short_piece_is_enough)
{
	for (size_t i = 0; i < CALIBRATE_ROUNDS; i++)
		rounds[i] = (struct calibrate_round){.with_ns = 13000 + 100 * (double)i,
						     .without_ns = 10000 + (i % 2 ? 150 : -150),
						     .samples = 1};
	rounds[3].with_ns += 20000;
	rounds[8].with_ns += 9000;
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_assert(result.known, "%s", result.reason);
	cr_expect_float_eq(result.ns, 3775, 200);
}

Test(calibrate, a_refusal_keeps_known_timings)
{
	struct calibrate_result both = {.dense = {.known = true, .ns = 1000}};

	calibrate_refuse(&both, "a reason");
	cr_expect_str_empty(both.dense.reason);
	cr_expect_str_eq(both.sparse.reason, "a reason");
	both = (struct calibrate_result){0};
	calibrate_refuse(&both, "another reason");
	cr_expect_str_eq(both.dense.reason, "another reason");
	cr_expect_str_eq(both.sparse.reason, "another reason");
}

Test(calibrate, disturbed_rounds_do_not_change_the_result)
{
	rounds[2].with_ns += 5e6;
	rounds[5].without_ns += 5e6;
	rounds[9].with_ns += 80e6;
	rounds[11].samples = 0;
	rounds[12].samples = NAN;
	rounds[13].with_ns = INFINITY;
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_assert(result.known);
	cr_expect_float_eq(result.ns, 1280, 1e-6);
}

/*
 * A hypervisor takes the CPU in 7 of 16 rounds, for 0.6 ms to 29 ms: first in the halves without samples, then in
 * the halves with samples.
 */
Test(calibrate, interrupted_rounds_are_thrown_away)
{
	for (size_t i = 0; i < 7; i++)
		rounds[i].without_ns += 5e6;
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_assert(result.known, "%s", result.reason);
	cr_expect_float_eq(result.ns, 1280, 1e-6);
	for (size_t i = 0; i < 7; i++) {
		rounds[i].without_ns = 1e6;
		rounds[i].with_ns = i % 2 ? 1.7e6 : 30e6;
	}
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_assert(result.known, "%s", result.reason);
	cr_expect_float_eq(result.ns, 1280, 1e-6);
}

Test(calibrate, with_too_few_undisturbed_rounds_the_reason_names_the_disturbance)
{
	for (size_t i = 0; i < 9; i++)
		rounds[i].without_ns += 5e6;
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_expect_not(result.known);
	cr_expect_str_eq(
		result.reason,
		"something else, such as another task, a hypervisor or the firmware, took the CPU in 9 of 16 rounds, and 8 undisturbed rounds are needed");
}

Test(calibrate, more_rounds_can_make_up_for_disturbed_ones)
{
	struct calibrate_round more[CALIBRATE_ROUNDS_MAX + 1];

	for (size_t i = 0; i < CALIBRATE_ROUNDS_MAX + 1; i++)
		more[i] = rounds[i % CALIBRATE_ROUNDS];
	for (size_t i = 0; i < 9; i++)
		more[i].without_ns += 5e6;
	calibrate_judge(more, CALIBRATE_ROUNDS_MAX + 1, &result);
	cr_expect(result.known, "%s", result.reason);
}

Test(calibrate, failures_are_retried_a_few_times_with_growing_delays)
{
	double before = 0;
	unsigned failed = 1;

	cr_expect_eq(calibrate_retry_seconds(0), 0, "nothing failed");
	for (; failed < 10 && calibrate_retry_seconds(failed) > 0; failed++) {
		cr_expect_geq(calibrate_retry_seconds(failed), 60);
		cr_expect_gt(calibrate_retry_seconds(failed), before);
		before = calibrate_retry_seconds(failed);
	}
	cr_expect_gt(failed, 2);
	cr_expect_lt(failed, 10, "it is given up");
}

Test(calibrate, an_even_number_of_rounds_has_its_median_between_two)
{
	for (size_t i = 0; i < CALIBRATE_ROUNDS; i++)
		rounds[i].with_ns = 1e6 + 50 * (i < CALIBRATE_ROUNDS / 2 ? 1000 : 1500);
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_assert(result.known);
	cr_expect_float_eq(result.ns, 1250, 1e-6);
}

Test(calibrate, too_few_rounds_yield_no_timing)
{
	calibrate_judge(rounds, CALIBRATE_ROUNDS / 2 - 1, &result);
	cr_expect_not(result.known);
	cr_expect_eq(result.ns, 0);
	cr_expect_str_eq(result.reason,
			 "the event sampled the measured work in too few rounds (7, and 8 are needed)");
	calibrate_judge(rounds, 0, &result);
	cr_expect_not(result.known);
	calibrate_judge(rounds, CALIBRATE_ROUNDS / 2, &result);
	cr_expect(result.known);
}

Test(calibrate, a_timing_that_is_mostly_not_positive_is_unknown)
{
	for (size_t i = 0; i < CALIBRATE_ROUNDS; i++)
		rounds[i].with_ns = 1e6 + 50 * (i < 11 ? 1200 : -1);
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_expect_not(result.known);
	cr_expect_str_eq(result.reason, "the time of a sample differed too much between rounds");
	rounds[11].with_ns = 1e6 + 50 * 1200;
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_expect(result.known);
}

Test(calibrate, rounds_that_disagree_yield_no_timing)
{
	for (size_t i = 0; i < CALIBRATE_ROUNDS; i++)
		rounds[i].with_ns = 1e6 + 50 * (100 + 900 * (double)i);
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_expect_not(result.known);
	for (size_t i = 0; i < CALIBRATE_ROUNDS; i++)
		rounds[i].with_ns = 1e6;
	calibrate_judge(rounds, CALIBRATE_ROUNDS, &result);
	cr_expect_not(result.known, "a sample that takes no time");
}

/*
 * First the kernel's defaults, then the limit after interrupts of 6.4 us (HZ=250): the kernel allows a quarter
 * more, 8 us.
 */
Test(calibrate, the_kernels_own_bound_is_for_steering)
{
	cr_expect_eq(calibrate_bound_ns(100000, 25), 2500);
	cr_expect_eq(calibrate_bound_ns(31250, 25), 8000);
	cr_expect_eq(calibrate_bound_ns(50000, 10), 2000);
	cr_expect_eq(calibrate_bound_ns(0, 25), 2500);
	cr_expect_eq(calibrate_bound_ns(100000, 0), 2500);
	cr_expect_eq(calibrate_bound_ns(100000, 100), 2500);
	cr_expect_eq(calibrate_bound_ns(1000000, 25), 1000,
		     "a raised limit does not make interrupts shorter");
	cr_expect_eq(calibrate_bound_ns(100, 25), 25000, "a lowered limit does not make them longer");
}
