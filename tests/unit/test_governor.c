// SPDX-License-Identifier: GPL-2.0
/* The decisions of the governor, step by step. test_governor_plant.c has a machine that reacts to them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "govern/governor.h"

#define MAX_RATE 100000

/* 10 million events a second, and 1 us per sample: at a period of 10007 the cost is 0.1 %. */
static const struct governor_input usual = {
	.known = true,
	.period = 10007,
	.least_period = 313,
	.greatest_period = INT32_MAX,
	.events_per_second = 10e6,
	.active = 1,
	.samples = 1000,
	.cpus = 4,
	.sample = {.dense_ns = 1000},
};

struct subject {
	struct governor *governor;
	struct governor_input inputs[EVENTS_MAX];
	struct governor_output outputs[EVENTS_MAX];
};

static struct subject subject;

static void begin_with(const struct governor_settings *settings)
{
	subject = (struct subject){0};
	cr_assert_eq(governor_new(settings, &subject.governor), 0);
	for (size_t i = 0; i < settings->n_events; i++)
		subject.inputs[i] = usual;
}

static void begin(double budget, size_t n)
{
	begin_with(&(struct governor_settings){.budget = budget, .n_events = n});
}

static void step_at(double seconds, u64 max_rate)
{
	governor_step(subject.governor, seconds, max_rate, subject.inputs, subject.outputs);
	for (size_t i = 0; i < EVENTS_MAX; i++)
		subject.inputs[i].period = subject.outputs[i].period;
}

static void step(void)
{
	step_at(1, MAX_RATE);
}

static void done(void)
{
	governor_free(subject.governor);
}

TestSuite(governor, .fini = done);

Test(governor, the_cost_is_the_rate_times_the_cost_of_a_sample)
{
	begin(0, 1);
	subject.inputs[0].period = 10000;
	step();
	cr_expect(subject.outputs[0].measured);
	cr_expect_float_eq(subject.outputs[0].cost, 0.001, 1e-12);
	cr_expect_eq(subject.outputs[0].budget, 0, "there is none");
	cr_expect_eq(subject.outputs[0].period, 10000);
	subject.inputs[0].active = 0.25;
	step();
	cr_expect_float_eq(subject.outputs[0].cost, 0.00025, 1e-12, "throttled, it cost no more than came");
}

/*
 * Sparse interrupts take four times as long as dense ones. 1,600 samples a second are half way between 100
 * and 25,600 on a logarithmic scale, so a sample there takes twice as long as a dense one.
 */
static void make_sparse_longer(void)
{
	subject.inputs[0].sample = (struct sample_cost){
		.dense_ns = 1000, .dense_per_second = 25600, .sparse_ns = 4000, .sparse_per_second = 100};
}

Test(governor, the_cost_of_a_sample_depends_on_the_rate)
{
	begin(0, 1);
	make_sparse_longer();
	subject.inputs[0].period = 6250;
	step();
	cr_expect_float_eq(subject.outputs[0].cost, 1600 * 2000e-9, 1e-12);
	subject.inputs[0].period = 100000;
	step();
	cr_expect_float_eq(subject.outputs[0].cost, 100 * 4000e-9, 1e-12);
	subject.inputs[0].period = 100;
	step();
	cr_expect_float_eq(subject.outputs[0].cost, 100000 * 1000e-9, 1e-12);
}

/*
 * Three quarters of the budget are 3.2 ms a second, enough for 1,600 samples. With the present cost of a
 * sample, the governor would aim at 2,263 samples, and these would take 4.15 ms.
 */
Test(governor, over_budget_the_new_period_accounts_for_longer_samples)
{
	begin(0.0032 / 0.75, 1);
	make_sparse_longer();
	subject.inputs[0].period = 1563;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_OVER_BUDGET);
	cr_expect_eq(subject.outputs[0].period, 6257, "the prime after 10e6 / s / (1,600 / s)");
	for (int i = 0; i < 600; i++) {
		step();
		cr_assert_eq(subject.outputs[0].reason, GOVERNOR_STEADY);
	}
	cr_expect_float_eq(subject.outputs[0].cost, 0.0032, 0.00001);
}

Test(governor, under_budget_the_new_period_accounts_for_shorter_samples)
{
	begin(0.0032 / 0.75, 1);
	make_sparse_longer();
	subject.inputs[0].period = 100003;
	for (int i = 0; i < 120; i++)
		step();
	cr_expect_eq(subject.outputs[0].period, 6257);
}

Test(governor, over_budget_the_cost_drops_at_once_to_three_quarters)
{
	begin(0.0005, 1);
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_OVER_BUDGET);
	cr_expect_eq(subject.outputs[0].period, 26669, "the prime after 10e6 / s x 1 us / (0.75 x 0.05%)");
	cr_expect_float_eq(subject.outputs[0].cost, 10e6 / 10007 * 1e-6, 1e-12);
	cr_expect_float_eq(subject.outputs[0].budget, 0.0005, 1e-12);
	for (int i = 0; i < 600; i++) {
		step();
		cr_assert_eq(subject.outputs[0].reason, GOVERNOR_STEADY);
		cr_assert_eq(subject.outputs[0].period, 26669);
	}
}

/*
 * The busiest of four CPUs had 16 samples. Two thirds over budget may then be chance. If the cost stays that
 * high for five seconds, it is not chance.
 */
Test(governor, slightly_over_budget_the_mean_of_several_seconds_decides)
{
	begin(0.0006, 1);
	subject.inputs[0].samples = 16;
	for (int second = 1; second < 5; second++) {
		step();
		cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY, "second %d", second);
	}
	/* The mean of the last seconds counts, not this second alone. */
	subject.inputs[0].events_per_second = 4e6;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_OVER_BUDGET);
	cr_expect_gt(subject.outputs[0].period, 15000);
	done();
	begin(0.0006, 1);
	subject.inputs[0].samples = 1000;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_OVER_BUDGET, "of a thousand they are none");
}

Test(governor, far_below_budget_the_period_shrinks_slowly)
{
	u64 before = 10007;
	int last = 20;

	begin(0.005, 1);
	for (int second = 1; second <= 120; second++) {
		step();
		if (subject.outputs[0].period == before)
			continue;
		cr_expect_geq(second - last, 10, "second %d, and %d before", second, last);
		last = second;
		cr_expect_eq(subject.outputs[0].reason, GOVERNOR_UNDER_BUDGET);
		cr_expect_geq(second, 30, "not before half a minute: second %d", second);
		cr_expect_geq(subject.outputs[0].period * 2, before, "by half at most");
		before = subject.outputs[0].period;
	}
	cr_expect_eq(before, 2671, "the prime after 10e6 / s x 1 us / (0.75 x 0.5%)");
}

Test(governor, slightly_below_budget_the_period_stays)
{
	begin(0.0019, 1); /* 53 % of the budget */
	for (int second = 0; second < 600; second++) {
		step();
		cr_assert_eq(subject.outputs[0].period, 10007);
	}
}

Test(governor, an_idle_machine_reaches_the_shortest_period)
{
	begin(0.005, 1);
	subject.inputs[0].events_per_second = 0;
	subject.inputs[0].samples = 0;
	for (int second = 0; second < 120; second++)
		step();
	cr_expect_eq(subject.outputs[0].period, 313);
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]), "at its least period");
}

/* A large load is remembered for ten minutes, and then forgotten. */
Test(governor, an_idle_machine_keeps_to_the_budget_of_the_recent_load)
{
	begin(0.005, 1);
	subject.inputs[0].events_per_second = 100e6;
	subject.inputs[0].samples = 5000;
	for (int second = 0; second < 60; second++)
		step();
	subject.inputs[0].events_per_second = 0;
	for (int second = 0; second < 590; second++)
		step();
	cr_expect_eq(subject.outputs[0].period, 2003, "100e6 / s cost ten budgets, 5 %%");
	for (int second = 0; second < 180; second++)
		step();
	cr_expect_eq(subject.outputs[0].period, 313);
}

/* The kernel stops the event 250 times a second, for `share` of the time in total. */
static void stop(double share)
{
	subject.inputs[0].throttles = share > 0 ? 250 : 0;
	subject.inputs[0].throttled = share;
}

/*
 * If the limit is one sample a tick, every sample stops the event until the next tick. At half of that limit
 * it stands still for a fifth of the time.
 */
Test(governor, an_event_that_every_sample_stops_keeps_its_period)
{
	begin(0.0015, 1);
	for (unsigned second = 0; second < 600; second++) {
		stop(0.16 + second % 10 * 0.01);
		step();
		cr_assert_eq(subject.outputs[0].period, 10007, "second %u", second);
	}
}

/* On older kernels, with that limit, any two samples in one tick stop the event. */
Test(governor, occasional_throttling_does_not_change_the_period)
{
	begin(0.0015, 1);
	for (unsigned second = 0; second < 600; second++) {
		subject.inputs[0].throttles = second % 30;
		subject.inputs[0].throttled = second % 30 * 0.003;
		step();
		cr_assert_eq(subject.outputs[0].period, 10007, "second %u", second);
	}
}

/*
 * A single throttling for three fifths of the time may be chance. Fifty are not, and neither is one in each
 * of five seconds.
 */
Test(governor, few_throttlings_do_not_change_the_period)
{
	begin(0.0015, 1);
	subject.inputs[0].throttles = 1;
	subject.inputs[0].throttled = 0.6;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY);
	subject.inputs[0].throttles = 50;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_THROTTLED);
	done();
	begin(0.0015, 1);
	subject.inputs[0].throttles = 1;
	subject.inputs[0].throttled = 0.6;
	for (int second = 1; second < 5; second++) {
		step();
		cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY, "second %d", second);
	}
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_THROTTLED);
	subject.inputs[0].throttled = 0.05;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY, "what it was before is answered for");
}

/*
 * 1000 samples a second exceed three quarters of the limit, 1250, by a little. Five seconds are needed to be
 * sure.
 */
Test(governor, a_rate_near_the_limit_doubles_the_period_even_if_rarely_throttled)
{
	begin(0.005, 1);
	subject.inputs[0].throttles = 1;
	subject.inputs[0].throttled = 0.001;
	for (int second = 1; second < 5; second++) {
		step_at(1, 1250);
		cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY, "second %d", second);
	}
	step_at(1, 1250);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_THROTTLED);
	cr_expect_eq(subject.outputs[0].period, 20021);
}

Test(governor, throttling_doubles_the_period_at_least)
{
	begin(0.005, 1);
	stop(0.5);
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_THROTTLED);
	cr_expect_eq(subject.outputs[0].period, 20021);
	/* 200,000 samples a second are expected, and the limit is half of that. */
	subject.inputs[0].events_per_second = 20021 * 200000.0;
	subject.inputs[0].sample.dense_ns = 1;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_THROTTLED);
	cr_expect_geq(subject.outputs[0].period, 20021UL * 4, "a half of the limit");
	cr_expect_leq(subject.outputs[0].period, 20021UL * 4 + 100);
}

static void expect_note(u64 max_rate, const char *wanted)
{
	char *note = governor_note("loads", &subject.inputs[0], &subject.outputs[0], max_rate);

	if (wanted)
		cr_expect(note && strcmp(note, wanted) == 0, "%s", note ? note : "none");
	else
		cr_expect_null(note, "%s", note);
	free(note);
}

Test(governor, a_demanded_period_shrinks_slowly_after_ten_minutes)
{
	u64 before;

	begin(0.005, 1);
	stop(0.5);
	step();
	stop(0);
	for (int second = 0; second < 599; second++)
		step();
	cr_expect_eq(subject.outputs[0].period, 20021);
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]),
			 "recovering from throttling");
	expect_note(
		0,
		"loads has few samples, 499 per second on the CPU with the most: it came close to kernel.perf_event_max_sample_rate; the period shrinks back by itself, which takes about an hour; to have more samples sooner, raise that sysctl");
	before = 20021;
	for (int minute = 0; minute < 10; minute++) {
		for (int second = 0; second < 60; second++)
			step();
		cr_expect_geq(subject.outputs[0].period, before * 95 / 100, "minute %d", minute);
		before = subject.outputs[0].period;
	}
	cr_expect_lt(before, 15000);
}

/*
 * The budget allows 500 samples a second, and 250,000 were expected. The demanded period still leaves an
 * eighth of the samples that the governor aims at.
 */
Test(governor, a_demanded_period_leaves_an_eighth_of_the_allowed_samples)
{
	begin(0.0005, 1);
	subject.inputs[0].period = 1009;
	subject.inputs[0].events_per_second = 250000 * 1009.0;
	stop(0.9);
	step();
	cr_expect_gt(subject.outputs[0].period, 500000);
	stop(0);
	subject.inputs[0].events_per_second = 100000;
	subject.inputs[0].samples = 0;
	/* The burst is remembered for eleven minutes. Then the period halves in steps. */
	for (int second = 0; second < 780; second++)
		step();
	cr_expect_eq(subject.outputs[0].period, 2137, "the prime after 100,000 / s / (500 / s x 0.75 / 8)");
}

/*
 * 1000 samples a second, while the budget aims at 1125. The kernel lowers its limit for interrupts that take
 * long, even if they are few. So the governor reacts only if samples are many.
 */
Test(governor, a_falling_limit_lengthens_the_period)
{
	begin(0.0015, 1);
	step_at(1, 100000);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY, "what it was before is not known");
	step_at(1, 80000);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_RATE_LOWERED);
	cr_expect_eq(subject.outputs[0].period, 12511, "a quarter more");
	/* 800 samples a second, and the limit allows an eighth of them. */
	step_at(1, 100);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_RATE_LOWERED);
	cr_expect_geq(subject.outputs[0].period, 200000);
	cr_expect_leq(subject.outputs[0].period, 200100);
	step_at(1, 100);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY);
	step_at(1, 100000);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY, "a rise is not a reason");
}

Test(governor, a_repeatedly_falling_limit_leaves_half_of_the_allowed_samples)
{
	u64 limit = 100000;

	begin(0.0015, 1);
	step_at(1, limit);
	for (; limit > 3000; limit = limit * 4 / 5)
		step_at(1, limit);
	cr_expect_geq(subject.outputs[0].period, 17000);
	cr_expect_leq(subject.outputs[0].period, 17800, "10e6 / s x 1 us / (half of 0.75 x 0.15%%)");
	step_at(1, limit);
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]),
			 "recovering from a lowered sample rate");
}

/* When the limit doubles, the demanded period is halved. */
Test(governor, a_raised_limit_cancels_the_demand)
{
	begin(0.0015, 1);
	subject.inputs[0].events_per_second = 6e6;
	subject.inputs[0].period = 6007;
	step_at(1, 10000);
	step_at(1, 5000);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_RATE_LOWERED);
	cr_expect_gt(subject.outputs[0].period, 10000);
	subject.inputs[0].events_per_second = 3e6;
	for (int second = 0; second < 60; second++)
		step_at(1, 5000);
	cr_expect_gt(subject.outputs[0].period, 10000);
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]),
			 "recovering from a lowered sample rate");
	expect_note(
		5000,
		"loads has few samples, 281 per second on the CPU with the most: the kernel lowered kernel.perf_event_max_sample_rate (5000) because interrupts took long; the period shrinks back by itself, which takes about an hour; to have more samples sooner, set that sysctl back");
	for (int second = 0; second < 60; second++)
		step_at(1, 10000);
	cr_expect_lt(subject.outputs[0].period, 6007);
}

/* The state says why samples are few. */
Test(governor, a_period_due_to_the_limit_has_that_reason)
{
	begin(0.005, 1);
	for (int second = 0; second < 120; second++)
		step_at(1, 2000);
	cr_expect_eq(subject.outputs[0].period, 10007);
	cr_expect_eq(subject.outputs[0].hold, GOVERNOR_HELD_BY_LIMIT);
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]),
			 "at the kernel's sample rate limit");
	expect_note(
		2000,
		"loads has few samples, 999 per second on the CPU with the most: pebsd stays at half of kernel.perf_event_max_sample_rate (2000), and the budget has room for more; raise that sysctl");
	step_at(1, 100000);
	expect_note(100000, NULL);
	cr_expect_eq(subject.outputs[0].hold, GOVERNOR_NOT_HELD);
}

Test(governor, a_period_due_to_a_burst_has_that_reason)
{
	begin(0.005, 1);
	subject.inputs[0].events_per_second = 500e6;
	step();
	subject.inputs[0].events_per_second = 1e6;
	for (int second = 0; second < 300; second++)
		step();
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]), "recovering from a burst");
	expect_note(MAX_RATE, NULL);
	for (int second = 0; second < 600; second++)
		step();
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]), "steady");
	cr_expect_lt(subject.outputs[0].period, 500);
}

Test(governor, an_event_without_samples_is_not_blamed_for_a_falling_limit)
{
	begin(0.005, 1);
	subject.inputs[0].events_per_second = 0;
	step_at(1, 100000);
	step_at(1, 50000);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY);
}

Test(governor, a_fixed_period_is_reported_and_not_changed)
{
	begin(0.0001, 1);
	subject.inputs[0].fixed = true;
	stop(0.9);
	for (int second = 0; second < 100; second++) {
		step_at(1, second < 50 ? 100000 : 1000);
		cr_assert_eq(subject.outputs[0].period, 10007);
		cr_assert_eq(subject.outputs[0].reason, GOVERNOR_STEADY);
	}
	cr_expect_float_eq(subject.outputs[0].cost, 10e6 / 10007 * 1e-6, 1e-12);
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]), "fixed");
}

Test(governor, the_cost_of_a_fixed_period_reduces_the_budget_of_others)
{
	begin(0.005, 2);
	subject.inputs[0].fixed = true;
	subject.inputs[0].period = 2500; /* costs 0.4 % */
	step();
	cr_expect_float_eq(subject.outputs[1].budget, 0.001, 1e-9);
	subject.inputs[0].period = 1000; /* costs 1 % */
	step();
	cr_expect_float_eq(subject.outputs[1].budget, 0.0005, 1e-9, "a tenth is left in any case");
}

Test(governor, events_of_a_class_share_the_budget_and_pass_on_the_unused_part)
{
	begin(0.006, 3);
	step();
	for (size_t i = 0; i < 3; i++)
		cr_expect_float_eq(subject.outputs[i].budget, 0.002, 1e-9, "event %zu", i);
	/* This event costs 0.03 % at its least period, and that is three quarters of 0.04 %. */
	for (int second = 0; second < 40; second++) {
		subject.inputs[2].events_per_second = 313 * 300.0;
		step();
	}
	cr_expect_float_eq(subject.outputs[0].budget, (0.006 - 0.0004) / 2, 1e-6);
	cr_expect_float_eq(subject.outputs[2].budget, 0.002, 1e-6, "what it may have if it needs it");
	/* Now this event needs its share. */
	subject.inputs[2].events_per_second = 10e6;
	step();
	cr_expect_float_eq(subject.outputs[0].budget, 0.002, 1e-9);
}

Test(governor, classes_have_separate_budgets)
{
	const struct governor_settings settings = {.budget = 0.005, .n_events = 3, .class_of = {7, 900, 7}};

	begin_with(&settings);
	step();
	cr_expect_float_eq(subject.outputs[0].budget, 0.0025, 1e-9);
	cr_expect_float_eq(subject.outputs[1].budget, 0.005, 1e-9);
	cr_expect_float_eq(subject.outputs[2].budget, 0.0025, 1e-9);
}

/* Loads, and four count events. */
static void begin_with_counts(void)
{
	begin_with(&(struct governor_settings){
		.budget = 0.005, .n_events = 5, .count = {false, true, true, true, true}});
}

Test(governor, count_events_share_a_fifth_of_the_budget)
{
	begin_with_counts();
	step();
	cr_expect_float_eq(subject.outputs[0].budget, 0.004, 1e-9);
	for (size_t i = 1; i < 5; i++)
		cr_expect_float_eq(subject.outputs[i].budget, 0.00025, 1e-9, "event %zu", i);
}

/* Each needs 0.004 % at its least period: 0.003 % is three quarters of that. */
Test(governor, the_unused_share_of_count_events_goes_to_others_but_not_back)
{
	begin_with_counts();
	for (size_t i = 1; i < 5; i++)
		subject.inputs[i].events_per_second = 313 * 30.0;
	step();
	cr_expect_float_eq(subject.outputs[0].budget, 0.005 - 4 * 0.00004, 1e-9);
	cr_expect_geq(subject.outputs[1].budget, 0.00025);
	done();
	begin_with_counts();
	subject.inputs[0].events_per_second = 313 * 30.0;
	step();
	for (size_t i = 1; i < 5; i++)
		cr_expect_float_eq(subject.outputs[i].budget, 0.00025, 1e-9, "event %zu", i);
}

/* A class of a PMU without PEBS, and a class of another PMU that has loads. */
Test(governor, count_events_without_others_in_their_class_share_the_whole_budget)
{
	const struct governor_settings settings = {
		.budget = 0.005,
		.n_events = 4,
		.class_of = {1, 1, 2, 2},
		.count = {true, true, false, true},
	};

	begin_with(&settings);
	step();
	cr_expect_float_eq(subject.outputs[0].budget, 0.0025, 1e-9);
	cr_expect_float_eq(subject.outputs[1].budget, 0.0025, 1e-9);
	cr_expect_float_eq(subject.outputs[2].budget, 0.004, 1e-9);
	cr_expect_float_eq(subject.outputs[3].budget, 0.001, 1e-9);
}

/* A fixed period of 25000 costs 0.04 %, and one of 2500 costs 0.4 %. */
Test(governor, a_fixed_count_event_takes_its_cost_from_the_fifth)
{
	begin_with_counts();
	subject.inputs[1].fixed = true;
	subject.inputs[1].period = 25000;
	step();
	cr_expect_float_eq(subject.outputs[0].budget, 0.004, 1e-9);
	cr_expect_eq(subject.outputs[1].budget, 0);
	cr_expect_float_eq(subject.outputs[2].budget, 0.0006 / 3, 1e-9);
	subject.inputs[1].period = 2500;
	step();
	cr_expect_float_eq(subject.outputs[0].budget, 0.0009, 1e-9);
	cr_expect_float_eq(subject.outputs[2].budget, 0.0001 / 3, 1e-9, "a tenth of the fifth is left");
}

Test(governor, next_to_a_fixed_period_of_loads_count_events_have_no_more_than_a_fifth)
{
	begin_with_counts();
	subject.inputs[0].fixed = true;
	subject.inputs[0].period = 25000;
	step();
	cr_expect_float_eq(subject.outputs[1].budget, 0.00025, 1e-9);
	subject.inputs[0].period = 2000; /* costs the whole budget */
	step();
	cr_expect_float_eq(subject.outputs[1].budget, 0.0005 / 4, 1e-9, "a tenth is left in any case");
}

Test(governor, the_period_stays_within_its_bounds)
{
	begin(0.0001, 1);
	subject.inputs[0].greatest_period = 20000;
	for (int second = 0; second < 10; second++)
		step();
	cr_expect_leq(subject.outputs[0].period, 20000);
	cr_expect_geq(subject.outputs[0].period, 19990);
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]), "at its greatest period");
	done();
	begin(1, 1);
	for (int second = 0; second < 200; second++)
		step();
	cr_expect_eq(subject.outputs[0].period, 313);
}

Test(governor, a_pmu_with_a_step_gets_multiples_of_it)
{
	begin(0.0001, 1);
	subject.inputs[0].period_step = 16;
	subject.inputs[0].period = 16UL * 1009;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_OVER_BUDGET);
	cr_expect_eq(subject.outputs[0].period % 16, 0);
}

Test(governor, an_absent_event_keeps_its_period)
{
	begin(0.0001, 2);
	subject.inputs[0].known = false;
	for (int second = 0; second < 100; second++)
		step();
	cr_expect_eq(subject.outputs[0].period, 10007);
	cr_expect_not(subject.outputs[0].measured);
	cr_expect_str_eq(governor_state(&subject.inputs[0], &subject.outputs[0]), "not sampled");
	cr_expect_float_eq(subject.outputs[1].budget, 0.0001, 1e-12, "all is the other's");
	subject.inputs[0].known = true;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_OVER_BUDGET);
	cr_expect_float_eq(subject.outputs[1].budget, 0.00005, 1e-12);
}

Test(governor, without_a_budget_periods_stay_and_a_new_budget_applies)
{
	begin(0, 1);
	stop(0.9);
	for (int second = 0; second < 100; second++)
		step_at(1, second < 50 ? 100000 : 100);
	cr_expect_eq(subject.outputs[0].period, 10007);
	stop(0);
	cr_assert_eq(governor_set_budget(subject.governor, 0.0001), 0);
	step_at(1, 0);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_OVER_BUDGET);
	cr_expect_eq(governor_set_budget(subject.governor, -0.1), -EINVAL);
	cr_expect_eq(governor_set_budget(subject.governor, 1.1), -EINVAL);
	cr_expect_eq(governor_set_budget(subject.governor, NAN), -EINVAL);
}

Test(governor, settings_out_of_range_are_refused)
{
	struct governor_settings settings = {.budget = 2, .n_events = 1};
	struct governor *governor = NULL;

	cr_expect_eq(governor_new(&settings, &governor), -EINVAL);
	settings = (struct governor_settings){.budget = NAN, .n_events = 1};
	cr_expect_eq(governor_new(&settings, &governor), -EINVAL);
	settings = (struct governor_settings){.budget = 0.1, .n_events = EVENTS_MAX + 1};
	cr_expect_eq(governor_new(&settings, &governor), -EINVAL);
	cr_expect_null(governor);
}

Test(governor, invalid_times_and_numbers_change_nothing)
{
	const double times[] = {0, -1, NAN, INFINITY, -INFINITY};
	const double numbers[] = {-1, NAN, INFINITY, -INFINITY};

	begin(0.0001, 2);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		step_at(times[i], MAX_RATE);
		cr_expect_eq(subject.outputs[0].period, 10007, "time %zu", i);
		cr_expect_eq(subject.outputs[0].cost, 0);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		subject.inputs[0] = subject.inputs[1] = usual;
		subject.inputs[0].events_per_second = numbers[i];
		subject.inputs[1].sample.dense_ns = numbers[i];
		step();
		for (size_t event = 0; event < 2; event++) {
			cr_expect_eq(subject.outputs[event].period, 10007, "number %zu", i);
			cr_expect_not(subject.outputs[event].measured);
			cr_expect_eq(subject.outputs[event].cost, 0);
			cr_expect(isfinite(subject.outputs[event].budget));
		}
	}
	/* The invalid values have no lasting effect. */
	subject.inputs[0] = usual;
	subject.inputs[0].active = NAN;
	subject.inputs[0].samples = NAN;
	step();
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_OVER_BUDGET);
	cr_expect(isfinite(subject.outputs[0].cost));
}

Test(governor, a_long_interval_counts_as_one)
{
	begin(0.0001, 1);
	step_at(1e9, MAX_RATE);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_OVER_BUDGET);
	step_at(1e-9, MAX_RATE);
	cr_expect_eq(subject.outputs[0].reason, GOVERNOR_STEADY);
}

Test(governor, a_forgotten_event_starts_again)
{
	begin(0.005, 1);
	for (int second = 0; second < 29; second++)
		step();
	governor_forget(subject.governor, 0);
	for (int second = 0; second < 29; second++)
		step();
	cr_expect_eq(subject.outputs[0].period, 10007);
	step();
	cr_expect_lt(subject.outputs[0].period, 10007);
}
