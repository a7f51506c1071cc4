// SPDX-License-Identifier: GPL-2.0
#include "estimate/window_waits.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#define PARTS  30
#define PERIOD 1000000

enum { CYCLES, INSTRUCTIONS, STALLS, MISSES };

static const struct wait_events events = {CYCLES, INSTRUCTIONS, STALLS, MISSES};

static void add(struct window_samples *samples, unsigned event, size_t part, u64 n)
{
	const struct tally tally = {
		.samples = n, .weight = n * PERIOD, .weight_squared = (double)n * PERIOD * PERIOD};

	tally_add(&samples->parts[event][part].tally, &tally);
	tally_add(&samples->sums[event], &tally);
}

/* One second for each part. With bursts, the service runs in one of three parts, for three times as long. */
static struct window_samples *new_samples(bool bursts)
{
	struct window_samples *samples = calloc(1, sizeof(*samples));

	cr_assert_not_null(samples);
	samples->n_parts = PARTS;
	for (size_t part = 0; part < PARTS; part++) {
		u64 times = !bursts ? 1 : part % 3 == 0 ? 3 : 0;
		u64 more = part % 2;

		for (unsigned event = 0; event <= MISSES; event++)
			samples->parts[event][part].seconds = 1;
		if (!times)
			continue;
		add(samples, CYCLES, part, 60 * times - more);
		add(samples, INSTRUCTIONS, part, 120 * times + more);
		add(samples, STALLS, part, 20 * times + more);
		add(samples, MISSES, part, 3 * times);
	}
	return samples;
}

static struct wait_part part_of(void)
{
	const struct wait_count count = {.known = true, .largest = PERIOD, .seconds = PARTS};

	return (struct wait_part){.cycles = count,
				  .instructions = count,
				  .stalls = count,
				  .misses = count,
				  .frequency_hz = 2e7};
}

static void expect_near(double value, double expected)
{
	cr_expect(fabs(value - expected) <= 1e-9 * fabs(expected), "%.12g is not %.12g", value, expected);
}

Test(window_waits, even_samples_have_the_bounds_of_independent_ones)
{
	struct window_samples *samples = new_samples(false);
	struct wait_part part = part_of();
	struct wait_value values[WAIT_FIGURES];
	struct bounds rate;

	window_waits_of(samples, &events, &part, 1, 0.95, values);
	/* 1785 and 615 samples. */
	expect_near(values[WAIT_SHARE].value, 615.0 / 1785);
	expect_near(values[WAIT_CORES_USED].value, 1785.0 / 30 / 20);
	expect_near(values[WAIT_CPI].value, 1785.0 / 3615);
	rate = bounds_rate(1785, 1785ULL * PERIOD, 1785.0 * PERIOD * PERIOD, PERIOD, 30, 1, 0.95);
	expect_near(values[WAIT_CORES_USED].bounds.low, rate.low / 2e7);
	expect_near(values[WAIT_CORES_USED].bounds.high, rate.high / 2e7);
	free(samples);
}

Test(window_waits, bursts_widen_rates_and_leave_ratios)
{
	struct window_samples *even = new_samples(false), *bursts = new_samples(true);
	struct wait_part part = part_of();
	struct wait_value steady[WAIT_FIGURES], values[WAIT_FIGURES];
	double width, steady_width;

	window_waits_of(even, &events, &part, 1, 0.95, steady);
	window_waits_of(bursts, &events, &part, 1, 0.95, values);
	width = values[WAIT_CORES_LOST].bounds.high - values[WAIT_CORES_LOST].bounds.low;
	steady_width = steady[WAIT_CORES_LOST].bounds.high - steady[WAIT_CORES_LOST].bounds.low;
	cr_expect_gt(width, 2 * steady_width, "%g, without bursts %g", width, steady_width);
	width = values[WAIT_SHARE].bounds.high - values[WAIT_SHARE].bounds.low;
	steady_width = steady[WAIT_SHARE].bounds.high - steady[WAIT_SHARE].bounds.low;
	cr_expect_lt(width, 1.1 * steady_width, "%g, without bursts %g", width, steady_width);
	free(even);
	free(bursts);
}

/* A rule on `wait` over the same samples shows the same bounds. */
static void expect_bounds_of_rule(const struct window_samples *samples, const struct wait_value *value)
{
	const struct rule rule = {.metric = {.kind = METRIC_WAIT}, .confidence = 0.95};
	struct measured_part parts[PARTS];
	struct measured measured = {
		.tally = &samples->sums[STALLS],
		.seconds = PARTS,
		.sample_weight = PERIOD,
		.second = {.tally = &samples->sums[CYCLES], .seconds = PARTS, .sample_weight = PERIOD},
		.parts = parts,
		.n_parts = PARTS,
	};
	struct estimate estimate;

	for (size_t i = 0; i < PARTS; i++) {
		parts[i] = samples->parts[STALLS][i];
		parts[i].second_weight = (double)samples->parts[CYCLES][i].tally.weight;
	}
	measured.effect = estimate_effect(&rule, NULL, &measured);
	cr_assert_gt(measured.effect, 1.25);
	estimate_of(&rule, NULL, &measured, &estimate);
	expect_near(value->value, estimate.value);
	expect_near(value->bounds.low, estimate.bounds.low);
	expect_near(value->bounds.high, estimate.bounds.high);
}

/* All stalls come in one of ten seconds, so the share of that time decides. */
Test(window_waits, a_ratio_that_changes_in_bursts_has_wider_bounds)
{
	struct window_samples *samples = calloc(1, sizeof(*samples));
	struct wait_part part = part_of();
	struct wait_value values[WAIT_FIGURES];
	struct bounds_counted stalls, cycles;
	struct bounds independent;

	cr_assert_not_null(samples);
	samples->n_parts = PARTS;
	for (size_t i = 0; i < PARTS; i++) {
		for (unsigned event = 0; event <= MISSES; event++)
			samples->parts[event][i].seconds = 1;
		add(samples, CYCLES, i, 60);
		if (i % 5 == 0)
			add(samples, STALLS, i, 50);
	}
	window_waits_of(samples, &events, &part, 1, 0.95, values);
	stalls = (struct bounds_counted){300, 300, 300, 1, 1, 1};
	cycles = (struct bounds_counted){1800, 1800, 1800, 1, 1, 1};
	independent = bounds_rate_ratio(&stalls, &cycles, 0.95);
	cr_expect_lt(values[WAIT_SHARE].bounds.low, 0.9 * independent.low);
	cr_expect_gt(values[WAIT_SHARE].bounds.high, 1.1 * independent.high);
	cr_expect_not(values[WAIT_CPI].known, "there are no samples of instructions");
	expect_bounds_of_rule(samples, &values[WAIT_SHARE]);
	free(samples);
}

Test(window_waits, one_burst_has_no_bounds)
{
	struct window_samples *samples = calloc(1, sizeof(*samples));
	struct wait_part part = part_of();
	struct wait_value values[WAIT_FIGURES];

	cr_assert_not_null(samples);
	samples->n_parts = PARTS;
	for (size_t i = 0; i < PARTS; i++) {
		for (unsigned event = 0; event <= MISSES; event++)
			samples->parts[event][i].seconds = 1;
		if (i < 3) {
			add(samples, CYCLES, i, 600);
			add(samples, STALLS, i, 200);
		}
	}
	window_waits_of(samples, &events, &part, 1, 0.95, values);
	expect_near(values[WAIT_SHARE].value, 1.0 / 3);
	expect_near(values[WAIT_SHARE].bounds.low, 0);
	expect_near(values[WAIT_SHARE].bounds.high, 1);
	cr_expect(isinf(values[WAIT_CORES_LOST].bounds.high));
	free(samples);
}

Test(window_waits, an_event_of_no_pmu_is_unknown)
{
	struct window_samples *samples = new_samples(false);
	const struct wait_events few = {CYCLES, EVENTS_MAX, STALLS, EVENTS_MAX};
	struct wait_part part = part_of();
	struct wait_value values[WAIT_FIGURES];

	window_waits_of(samples, &few, &part, 1, 0.95, values);
	cr_expect(values[WAIT_SHARE].known);
	cr_expect_not(values[WAIT_CPI].known);
	cr_expect_not(values[WAIT_TRAFFIC].known);
	free(samples);
}

#define WINDOWS 2000

/*
 * Draws windows of a service that runs in half of the parts, and whose wait is `high` in half of those, else `low`.
 * Gets the shares of the windows in which the bounds of wait, and of cores lost, hold on each side.
 */
static void simulate(double low, double high, double held[2][2])
{
	const double cycles = 40, truth = (low + high) / 2, lost = cycles / 2 * truth * PERIOD / 2e7;
	struct window_samples *samples = calloc(1, sizeof(*samples));
	struct wait_part part = part_of();

	cr_assert_not_null(samples);
	memset(held, 0, 4 * sizeof(held[0][0]));
	set_seed(5, 2463534242U);
	for (unsigned window = 0; window < WINDOWS; window++) {
		struct wait_value values[WAIT_FIGURES];

		memset(samples, 0, sizeof(*samples));
		samples->n_parts = PARTS;
		for (size_t i = 0; i < PARTS; i++) {
			double share = unif_rand() < 0.5 ? low : high;

			for (unsigned event = 0; event <= MISSES; event++)
				samples->parts[event][i].seconds = 1;
			if (unif_rand() < 0.5)
				continue;
			add(samples, CYCLES, i, (u64)rpois(cycles));
			add(samples, STALLS, i, (u64)rpois(cycles * share));
		}
		window_waits_of(samples, &events, &part, 1, 0.95, values);
		held[0][0] += values[WAIT_SHARE].bounds.low <= truth;
		held[0][1] += values[WAIT_SHARE].bounds.high >= truth;
		held[1][0] += values[WAIT_CORES_LOST].bounds.low <= lost;
		held[1][1] += values[WAIT_CORES_LOST].bounds.high >= lost;
	}
	for (size_t i = 0; i < 4; i++)
		held[i / 2][i % 2] /= WINDOWS;
	free(samples);
}

/* Within 1.5 percentage points: three standard deviations of 2,000 windows. */
Test(window_waits, bounds_hold_in_bursts_as_often_as_promised)
{
	double held[2][2];

	simulate(0.3, 0.3, held);
	for (size_t i = 0; i < 4; i++)
		cr_expect_geq(held[i / 2][i % 2], 0.935, "constant wait, bound %zu holds in %g", i,
			      held[i / 2][i % 2]);
	simulate(0.1, 0.7, held);
	for (size_t i = 0; i < 4; i++)
		cr_expect_geq(held[i / 2][i % 2], 0.935, "changing wait, bound %zu holds in %g", i,
			      held[i / 2][i % 2]);
}
