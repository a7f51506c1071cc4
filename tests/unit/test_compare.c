// SPDX-License-Identifier: GPL-2.0
#include "estimate/compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define EVENT   2
#define PARTS   30
#define SECONDS 60

static struct compare_side exact(double value, double low, double high)
{
	return (struct compare_side){.known = true,
				     .value = value,
				     .value_low = value,
				     .value_high = value,
				     .bounds = {low, high},
				     .bounded = true};
}

static struct comparison compared(struct compare_side a, struct compare_side b, enum compare_scale scale)
{
	struct comparison comparison;

	compare_sides(&a, &b, scale, &comparison);
	return comparison;
}

/* Newcombe, Statistics in Medicine 17, 1998, p. 873, table II: 56/70 and 48/80, method 10 (Wilson's bounds). */
Test(compare, difference_of_shares_is_that_of_newcombe)
{
	struct comparison comparison =
		compared(exact(48.0 / 80, 0.4904, 0.7003), exact(56.0 / 70, 0.6916, 0.8769), COMPARE_POINTS);

	cr_expect_float_eq(comparison.difference, 0.2, 1e-9);
	cr_expect_float_eq(comparison.bounds.low, 0.0524, 1e-4);
	cr_expect_float_eq(comparison.bounds.high, 0.3339, 1e-4);
	cr_expect_eq(comparison.verdict, COMPARE_PROVEN);
}

Test(compare, ratio_of_two_sides)
{
	/* ln 1.2 -+ sqrt(2) x 0.05. */
	struct comparison comparison = compared(exact(100, 100 * exp(-0.05), 100 * exp(0.05)),
						exact(120, 120 * exp(-0.05), 120 * exp(0.05)), COMPARE_RATIO);

	cr_expect_float_eq(comparison.difference, 0.2, 1e-9);
	cr_expect_float_eq(comparison.bounds.low, 1.2 * exp(-0.05 * sqrt(2)) - 1, 1e-9);
	cr_expect_float_eq(comparison.bounds.high, 1.2 * exp(0.05 * sqrt(2)) - 1, 1e-9);
	cr_expect_eq(comparison.verdict, COMPARE_PROVEN);
	comparison = compared(exact(100, 90, 110), exact(105, 95, 115), COMPARE_RATIO);
	cr_expect_eq(comparison.verdict, COMPARE_NOT_PROVEN);
	cr_expect(comparison.bounds.low < 0 && comparison.bounds.high > 0);
	comparison = compared(exact(120, 115, 125), exact(100, 95, 105), COMPARE_RATIO);
	cr_expect(comparison.bounds.high < 0 && comparison.bounds.low > -1);
	cr_expect_eq(comparison.verdict, COMPARE_PROVEN);
}

Test(compare, sides_without_value_or_bounds_prove_nothing)
{
	struct compare_side none = {0}, unbounded = exact(100, 0, INFINITY), some = exact(100, 90, 110);

	unbounded.bounded = false;
	cr_expect_eq(compared(none, some, COMPARE_RATIO).verdict, COMPARE_NO_VALUE);
	cr_expect_eq(compared(some, none, COMPARE_POINTS).verdict, COMPARE_NO_VALUE);
	cr_expect_eq(compared(some, unbounded, COMPARE_RATIO).verdict, COMPARE_NO_BOUNDS);
	cr_expect_eq(compared(some, unbounded, COMPARE_RATIO).difference, 0);
	cr_expect_eq(compared(exact(0, 0, 1), exact(0, 0, 1), COMPARE_RATIO).verdict, COMPARE_NO_VALUE);
}

Test(compare, a_ratio_of_or_to_zero_has_bounds_from_both_sides)
{
	struct comparison comparison = compared(exact(100, 90, 110), exact(0, 0, 10), COMPARE_RATIO);

	cr_expect_eq(comparison.verdict, COMPARE_PROVEN);
	cr_expect_eq(comparison.difference, -1);
	cr_expect_float_eq(comparison.bounds.high, 10.0 / 90 - 1, 1e-9);
	cr_expect_eq(comparison.bounds.low, -1);
	comparison = compared(exact(0, 0, 10), exact(100, 90, 110), COMPARE_RATIO);
	cr_expect_eq(comparison.verdict, COMPARE_PROVEN);
	cr_expect_eq(comparison.difference, INFINITY);
	cr_expect_float_eq(comparison.bounds.low, 8, 1e-9);
	cr_expect_eq(comparison.bounds.high, INFINITY);
}

/* A side whose upper bound is not known says nothing about how much smaller the other one is. */
Test(compare, one_missing_bound_leaves_the_other_one)
{
	struct comparison comparison =
		compared(exact(100, 90, 110), exact(200, 180, INFINITY), COMPARE_RATIO);

	cr_expect_eq(comparison.verdict, COMPARE_PROVEN);
	cr_expect_gt(comparison.bounds.low, 0.5);
	cr_expect_eq(comparison.bounds.high, INFINITY);
	comparison = compared(exact(200, 180, INFINITY), exact(100, 90, 110), COMPARE_RATIO);
	cr_expect_eq(comparison.bounds.low, -1);
	cr_expect_lt(comparison.bounds.high, -0.3);
}

Test(compare, more_figures_need_more_confidence)
{
	cr_expect_float_eq(compare_confidence(1), 0.975, 1e-12);
	cr_expect_float_eq(compare_confidence(20), 0.99875, 1e-12);
	cr_expect_float_eq(compare_confidence(0), 0.975, 1e-12);
}

static unsigned short seed[3];

static double gaussian(void)
{
	double radius = sqrt(-2 * log(1 - erand48(seed)));

	return radius * cos(2 * M_PI * erand48(seed));
}

/* A service: how many of its samples are slow, in bursts and between them. */
struct service {
	double per_second;
	double slow, slow_in_burst;
	double burst_seconds; /* 0: no bursts */
	double slow_cycles;
};

static void put_sample(struct window_samples *samples, size_t part, bool slow, double slow_cycles)
{
	/* Logarithms of latencies spread as normal distributions do. */
	double cycles = slow ? slow_cycles * exp(0.4 * gaussian()) : 40 * exp(0.3 * gaussian());
	struct tally *tallies[] = {&samples->sums[EVENT], &samples->parts[EVENT][part].tally};

	for (size_t i = 0; i < ARRAY_SIZE(tallies); i++) {
		tallies[i]->samples++;
		tallies[i]->latency_samples++;
		tallies[i]->latency_sum += (u64)lround(cycles);
		tallies[i]->latency[histogram_fine_index((u32)lround(cycles))]++;
		tallies[i]->sources[slow ? SOURCE_LOCAL_DRAM : SOURCE_L1]++;
	}
}

/* Bursts take a tenth of the time. */
static void run(const struct service *service, struct window_samples *ret)
{
	double left = 0, until_next = 0;

	memset(ret, 0, sizeof(*ret));
	ret->n_parts = PARTS;
	if (service->burst_seconds > 0)
		until_next = -log(1 - erand48(seed)) * 9 * service->burst_seconds;
	for (size_t tenth = 0; tenth < (size_t)10 * SECONDS; tenth++) {
		const double expected = service->per_second / 10;
		double waits = -log(1 - erand48(seed));
		bool in_burst = left > 0;

		while (waits < expected) {
			put_sample(ret, tenth * PARTS / 10 / SECONDS,
				   erand48(seed) < (in_burst ? service->slow_in_burst : service->slow),
				   service->slow_cycles);
			waits -= log(1 - erand48(seed));
		}
		if (service->burst_seconds <= 0)
			continue;
		left -= 0.1;
		until_next -= in_burst ? 0 : 0.1;
		if (left <= 0 && until_next <= 0) {
			left = service->burst_seconds;
			until_next = -log(1 - erand48(seed)) * 9 * service->burst_seconds;
		}
	}
}

enum figure { P50, P90, P99, MEAN, DRAM, FIGURES };
static const char *const names[FIGURES] = {"p50", "p90", "p99", "mean", "share:local_dram"};

static void read_figure(const struct window_samples *samples, enum figure figure, double confidence,
			struct compare_side *ret)
{
	static const double quantiles[] = {0.5, 0.9, 0.99};
	const struct metric dram = {
		.kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = SOURCE_LOCAL_DRAM};

	if (figure <= P99)
		compare_quantile(samples, EVENT, quantiles[figure], confidence, ret);
	else if (figure == MEAN)
		compare_mean(samples, EVENT, confidence, ret);
	else
		compare_share(samples, EVENT, &dram, confidence, ret);
}

struct outcome {
	unsigned draws, bounded, missed, proven;
};

/* Compares two services many times. `truth` is the true difference of each figure; `n` as in compare_confidence(). */
static void compare_often(const struct service *a, const struct service *b, const double truth[FIGURES],
			  size_t n, unsigned draws, struct outcome ret[FIGURES], unsigned *ret_any)
{
	static struct window_samples before, after;

	memset(ret, 0, FIGURES * sizeof(*ret));
	*ret_any = 0;
	for (unsigned draw = 0; draw < draws; draw++) {
		bool any = false;

		run(a, &before);
		run(b, &after);
		for (enum figure figure = 0; figure < FIGURES; figure++) {
			struct compare_side sides[2];
			struct comparison comparison;

			read_figure(&before, figure, compare_confidence(n), &sides[0]);
			read_figure(&after, figure, compare_confidence(n), &sides[1]);
			compare_sides(&sides[0], &sides[1], figure == DRAM ? COMPARE_POINTS : COMPARE_RATIO,
				      &comparison);
			ret[figure].draws++;
			ret[figure].bounded += comparison.verdict >= COMPARE_NOT_PROVEN;
			ret[figure].proven += comparison.verdict == COMPARE_PROVEN;
			if (comparison.bounds.low > truth[figure] || comparison.bounds.high < truth[figure]) {
				ret[figure].missed++;
				any = true;
			}
		}
		*ret_any += any;
	}
}

static const struct service services[] = {
	{.per_second = 100, .slow = 0.15, .slow_cycles = 400},
	{.per_second = 30, .slow = 0.15, .slow_cycles = 4000},
	{.per_second = 100, .slow = 0.05, .slow_in_burst = 0.6, .burst_seconds = 0.3, .slow_cycles = 400},
	{.per_second = 100, .slow = 0.05, .slow_in_burst = 0.6, .burst_seconds = 1, .slow_cycles = 400},
	{.per_second = 100, .slow = 0.05, .slow_in_burst = 0.6, .burst_seconds = 3, .slow_cycles = 400},
};

/* The bounds of each figure by itself contain the true difference, which is 0, in 95 % of the comparisons. */
Test(compare, bounds_of_one_figure_hold, .timeout = 120)
{
	const double truth[FIGURES] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		struct outcome outcomes[FIGURES];
		unsigned any;

		memcpy(seed, (unsigned short[3]){1, 2, (unsigned short)i}, sizeof(seed));
		compare_often(&services[i], &services[i], truth, 1, 400, outcomes, &any);
		for (enum figure figure = 0; figure < FIGURES; figure++) {
			cr_log_info("service %zu, %s: %u of %u missed, %u bounded", i, names[figure],
				    outcomes[figure].missed, outcomes[figure].draws,
				    outcomes[figure].bounded);
			/*
			 * 5 % and two standard deviations of 400 draws. A window of the last service has two
			 * bursts on average, too few for a share: 9 %. Together with other figures its bounds hold.
			 */
			cr_expect_leq(outcomes[figure].missed,
				      figure == DRAM && services[i].burst_seconds > 2 ? 44U : 28U,
				      "service %zu, %s: %u", i, names[figure], outcomes[figure].missed);
		}
	}
}

/* One of five figures is wrong in at most 5 % of the screens, if the confidence is that of five figures. */
Test(compare, bounds_of_all_figures_hold_together, .timeout = 120)
{
	const double truth[FIGURES] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		struct outcome outcomes[FIGURES];
		unsigned any;

		memcpy(seed, (unsigned short[3]){3, 2, (unsigned short)i}, sizeof(seed));
		compare_often(&services[i], &services[i], truth, FIGURES, 400, outcomes, &any);
		cr_log_info("service %zu: %u", i, any);
		cr_expect_leq(any, 28U, "service %zu: %u", i, any);
	}
}

/* 15 % instead of 10 % slow samples: the bounds contain the true difference, and most comparisons prove it. */
Test(compare, difference_is_proven_and_its_bounds_contain_it, .timeout = 120)
{
	const struct service before = {.per_second = 100, .slow = 0.1, .slow_cycles = 400};
	const struct service after = {.per_second = 100, .slow = 0.15, .slow_cycles = 480};
	/* Exact means of both normal distributions of logarithms. */
	const double fast = 40 * exp(0.045), slow = exp(0.08);
	double truth[FIGURES] = {
		0, 0, 0, (0.85 * fast + 0.15 * 480 * slow) / (0.9 * fast + 0.1 * 400 * slow) - 1, 0.05};
	struct outcome outcomes[FIGURES];
	unsigned any;

	memcpy(seed, (unsigned short[3]){5, 2, 1}, sizeof(seed));
	compare_often(&before, &after, truth, 20, 200, outcomes, &any);
	cr_expect_leq(outcomes[MEAN].missed, 4U, "%u", outcomes[MEAN].missed);
	cr_expect_leq(outcomes[DRAM].missed, 4U, "%u", outcomes[DRAM].missed);
	cr_expect_geq(outcomes[MEAN].proven, 190U, "%u", outcomes[MEAN].proven);
	cr_expect_geq(outcomes[DRAM].proven, 190U, "%u", outcomes[DRAM].proven);
	cr_log_info("proven: p50 %u p90 %u p99 %u mean %u dram %u", outcomes[P50].proven,
		    outcomes[P90].proven, outcomes[P99].proven, outcomes[MEAN].proven, outcomes[DRAM].proven);
}

/*
 * Both quantiles lie in the same bucket, whatever their true values there: nothing is proven, even with 10^9 samples.
 */
Test(compare, width_of_a_bucket_is_added)
{
	static struct window_samples samples;
	struct compare_side side;
	struct comparison comparison;
	u32 bucket = histogram_fine_index(100);

	samples.n_parts = PARTS;
	for (size_t i = 0; i < PARTS; i++) {
		samples.parts[EVENT][i].tally.latency[bucket] = 1000000;
		samples.parts[EVENT][i].tally.latency_samples = 1000000;
	}
	samples.sums[EVENT] = (struct tally){.latency_samples = 30000000};
	samples.sums[EVENT].latency[bucket] = 30000000;
	compare_quantile(&samples, EVENT, 0.99, 0.99, &side);
	comparison = compared(side, side, COMPARE_RATIO);
	cr_expect_eq(comparison.verdict, COMPARE_NOT_PROVEN);
	cr_expect_float_eq(comparison.bounds.low, 96.0 / 104 - 1, 1e-9, "%g", comparison.bounds.low);
	cr_expect_float_eq(comparison.bounds.high, 104.0 / 96 - 1, 1e-9, "%g", comparison.bounds.high);
}

/* As of a whole recording, or of a daemon's whole time. */
Test(compare, samples_without_parts_have_no_bounds)
{
	static struct window_samples samples;
	struct compare_side side;

	memcpy(seed, (unsigned short[3]){8, 2, 1}, sizeof(seed));
	for (size_t i = 0; i < 3000; i++)
		put_sample(&samples, 0, i % 10 == 0, 400);
	for (enum figure figure = 0; figure < FIGURES; figure++) {
		read_figure(&samples, figure, 0.975, &side);
		cr_expect(side.known && !side.bounded, "%s", names[figure]);
	}
}

Test(compare, mean_of_few_samples_has_no_bounds)
{
	static struct window_samples samples;
	struct compare_side side;

	memset(&samples, 0, sizeof(samples));
	compare_mean(&samples, EVENT, 0.99, &side);
	cr_expect_not(side.known);
	samples.n_parts = PARTS;
	memcpy(seed, (unsigned short[3]){7, 2, 1}, sizeof(seed));
	for (size_t i = 0; i < COMPARE_MEAN_WORTH - 1; i++)
		put_sample(&samples, i % PARTS, false, 0);
	compare_mean(&samples, EVENT, 0.99, &side);
	cr_expect(side.known && !side.bounded);
	for (size_t i = 0; i < 1000; i++)
		put_sample(&samples, i % PARTS, false, 0);
	compare_mean(&samples, EVENT, 0.99, &side);
	cr_expect(side.known && side.bounded);
	cr_expect(side.bounds.low < side.value && side.value < side.bounds.high);
}

Test(compare, waits_are_compared_by_their_own_scale)
{
	struct wait_value value = {.known = true, .value = 0.4, .bounds = {0, 1}};
	static struct window_samples samples = {.n_parts = BURSTS_COLLECTIONS_MIN};
	struct compare_side side;

	compare_wait(&samples, WAIT_SHARE, &value, &side);
	cr_expect(side.known && !side.bounded);
	value.bounds = (struct bounds){0.3, 0.5};
	compare_wait(&samples, WAIT_SHARE, &value, &side);
	cr_expect(side.bounded);
	cr_expect_eq(compare_wait_scale(WAIT_SHARE), COMPARE_POINTS);
	cr_expect_eq(compare_wait_scale(WAIT_CPI), COMPARE_RATIO);
	value = (struct wait_value){.known = true, .value = 3, .bounds = {0, INFINITY}};
	compare_wait(&samples, WAIT_CPI, &value, &side);
	cr_expect_not(side.bounded);
	value.bounds = (struct bounds){2, 4};
	samples.n_parts = BURSTS_COLLECTIONS_MIN - 1;
	compare_wait(&samples, WAIT_CPI, &value, &side);
	cr_expect_not(side.bounded);
}
