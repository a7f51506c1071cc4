// SPDX-License-Identifier: GPL-2.0
#include "estimate/bursts.h"

#include <criterion/criterion.h>
#include <math.h>

#include "estimate/estimate.h"
#include "policy/evidence.h"

#define PARTS 30

/* 30 parts of 100 samples each. `counted` has the number of counted samples of each part. */
static struct burst_series series_of(const double counted[PARTS])
{
	struct burst_series series = {.n = PARTS, .of_samples = true};
	double sum = 0;

	for (size_t i = 0; i < PARTS; i++) {
		series.parts[i] = (struct burst_part){100, counted[i]};
		sum += counted[i];
	}
	series.variance = sum * (1 - sum / (100 * PARTS));
	return series;
}

/* 30 draws from a binomial distribution with n = 100 and p = 0.1. */
static const double independent[PARTS] = {9,  12, 10, 8,  13, 11, 7,  10, 9, 14, 10, 6,  11, 12, 9,
					  10, 13, 8,  10, 9,  11, 15, 10, 7, 9,  12, 10, 11, 8,  10};

/*
 * --check-config has the same limit: it reports a window of fewer than four collections. The parts differ in
 * size, because equal ones are rare.
 */
Test(bursts, four_uneven_parts_are_enough_and_three_are_not)
{
	struct burst_series series = {.n = BURSTS_COLLECTIONS_MIN,
				      .parts = {{100, 10}, {90, 9}, {110, 11}, {95, 9}},
				      .variance = 35.1,
				      .of_samples = true};

	cr_expect(isfinite(bursts_effect(&series, 0.95)));
	series.n = BURSTS_COLLECTIONS_MIN - 1;
	cr_expect(isinf(bursts_effect(&series, 0.95)));
}

Test(bursts, independent_samples_are_worth_their_number)
{
	struct burst_series series = series_of(independent);

	cr_expect_eq(bursts_effect(&series, 0.95), 1);
	cr_expect_eq(bursts_effect(&series, 0.9999), 1);
}

/* Each burst fills one part: 60 of its 100 samples are counted, and 5 of 100 in each part without a burst. */
Test(bursts, a_burst_in_a_part_is_one_sample_more_or_less)
{
	double counted[PARTS];
	struct burst_series series;
	double squares = 0, mean = (4 * 60.0 + 26 * 5) / PARTS;
	double effect;

	for (size_t i = 0; i < PARTS; i++) {
		counted[i] = i % 8 == 3 ? 60 : 5;
		squares += (counted[i] - mean) * (counted[i] - mean);
	}
	series = series_of(counted);
	effect = bursts_effect(&series, 0.95);
	/*
	 * The effect is the variance of the 30 sums divided by the binomial one, times the square of
	 * Student's t (29 degrees of freedom) divided by the normal quantile.
	 */
	cr_expect_float_eq(effect, squares * 30 / 29 / series.variance * pow(1.699127 / 1.644854, 2),
			   1e-3 * effect);
	cr_expect_gt(bursts_effect(&series, 0.99), effect, "further out it is less sure");
	/* For two events, the quantile of Student's t is that for 97.5 %. */
	series.of_two_events = true;
	cr_expect_float_eq(bursts_effect(&series, 0.95), effect * pow(2.045230 / 1.699127, 2), 1e-3 * effect);
}

/*
 * As many counted samples, but in bursts of two parts instead of one: batches of two parts then vary more,
 * and the effect is more than 1.5 times as large.
 */
Test(bursts, longer_batches_see_longer_bursts)
{
	double of_one[PARTS], of_two[PARTS];
	struct burst_series one, two;

	for (size_t i = 0; i < PARTS; i++) {
		of_one[i] = i % 7 == 3 ? 60 : 5;
		of_two[i] = i % 14 == 3 || i % 14 == 4 ? 60 : 5;
	}
	one = series_of(of_one);
	two = series_of(of_two);
	cr_expect_gt(bursts_effect(&two, 0.95), 1.5 * bursts_effect(&one, 0.95));
	cr_expect(isfinite(bursts_effect(&two, 0.95)));
}

Test(bursts, a_burst_as_long_as_the_window_is_not_known)
{
	double counted[PARTS];
	struct burst_series series;

	for (size_t length = 8; length <= 22; length += 7) {
		for (size_t i = 0; i < PARTS; i++)
			counted[i] = i < length ? 60 : 5;
		series = series_of(counted);
		cr_expect(isinf(bursts_effect(&series, 0.95)), "%zu", length);
	}
	/* Equal parts do not vary at all. */
	for (size_t i = 0; i < PARTS; i++)
		counted[i] = 60;
	series = series_of(counted);
	cr_expect_eq(bursts_effect(&series, 0.95), 1);
}

Test(bursts, an_idle_service_needs_five_bursts)
{
	struct burst_series series = {.n = PARTS, .of_samples = true};

	for (unsigned bursts = 1; bursts <= 6; bursts++) {
		double n = 0;

		for (size_t i = 0; i < PARTS; i++) {
			bool busy = i % 5 == 2 && i / 5 < bursts;

			series.parts[i] = (struct burst_part){busy ? 100 : 0, busy ? 10 : 0};
			n += busy ? 100 : 0;
		}
		series.variance = n * 0.09;
		cr_expect_eq(isinf(bursts_effect(&series, 0.95)) != 0, bursts < 5, "%u", bursts);
	}
	/* With few samples, parts are empty by chance. */
	for (size_t i = 0; i < PARTS; i++)
		series.parts[i] = (struct burst_part){i == 2 || i == 9 || i == 10 || i == 23, i == 9};
	series.variance = 4 * 0.25 * 0.75;
	cr_expect_eq(bursts_effect(&series, 0.95), 1);
}

Test(bursts, few_parts_say_nothing_or_little)
{
	struct burst_series series = {
		.n = 2, .parts = {{100, 10}, {100, 10}}, .variance = 18, .of_samples = true};

	cr_expect(isinf(bursts_effect(&series, 0.95)));
	/* Two parts have nearly all samples. Therefore the series is worth no more than two parts. */
	series = (struct burst_series){.n = 4,
				       .parts = {{1000, 100}, {1, 0}, {1, 0}, {1000, 100}},
				       .variance = 180,
				       .of_samples = true};
	cr_expect(isinf(bursts_effect(&series, 0.95)));
	/*
	 * Four parts are enough to measure their variance. Student's t with 3 degrees of freedom accounts for
	 * its uncertainty.
	 */
	series = (struct burst_series){.n = 4,
				       .parts = {{100, 0}, {100, 20}, {100, 0}, {100, 20}},
				       .variance = 36,
				       .of_samples = true};
	cr_expect_float_eq(bursts_effect(&series, 0.95), 400.0 * 4 / 3 / 36 * pow(2.353363 / 1.644854, 2),
			   0.01);
	/* A time without any event is not a burst. */
	series = (struct burst_series){.n = 1, .parts = {{30, 0}}};
	cr_expect_eq(bursts_effect(&series, 0.95), 1);
	series = (struct burst_series){.n = 0};
	cr_expect_eq(bursts_effect(&series, 0.95), 1);
}

/*
 * In 20 busy parts nine tenths are counted, with much noise, and in 10 quiet parts one fifth. The noise of the busy
 * parts hides that the quiet ones are alike, unless each part is measured by its own noise.
 */
Test(bursts, noise_of_busy_parts_does_not_hide_bursts_of_two_events)
{
	struct burst_series series = {.n = PARTS, .of_samples = true};
	double whole = 0, counted = 0;

	for (size_t i = 0; i < PARTS; i++) {
		bool busy = i < 20;

		series.parts[i] = (struct burst_part){busy ? 200 : 30, busy ? (i / 2 % 2 ? 205 : 155) : 6};
		whole += series.parts[i].whole;
		counted += series.parts[i].counted;
	}
	series.variance = counted + counted / whole * counted / whole * whole;
	cr_expect(isfinite(bursts_effect(&series, 0.95)));
	series.of_two_events = true;
	cr_expect(isinf(bursts_effect(&series, 0.95)));
}

/* A window of 30 parts. Every tenth part is a burst of slow samples from remote DRAM. */
struct window {
	struct tally sum;
	struct measured_part parts[PARTS];
};

static void fill(struct window *window, u32 slow_in, u32 slow_out)
{
	*window = (struct window){0};
	for (unsigned i = 0; i < PARTS; i++) {
		struct tally *tally = &window->parts[i].tally;
		u32 slow = i % 10 == 5 ? slow_in : slow_out;

		tally->samples = tally->latency_samples = 100;
		tally->weight = 100000;
		tally->weight_squared = 1e8;
		tally->sources[SOURCE_REMOTE_DRAM] = slow;
		tally->sources[SOURCE_L1] = 100 - slow;
		tally->latency[histogram_fine_index(1000)] = slow;
		tally->latency[histogram_fine_index(10)] = 100 - slow;
		tally->latency_sum = 1000ULL * slow + 10ULL * (100 - slow);
		window->parts[i].seconds = 1;
		tally_add(&window->sum, tally);
	}
}

static const struct metric metrics[] = {
	{.kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = SOURCE_REMOTE_DRAM},
	{.kind = METRIC_QUANTILE, .quantile = 0.9},
	{.kind = METRIC_MEAN},
	{.kind = METRIC_RATE},
};

Test(bursts, bursts_are_measured_in_what_the_metric_counts)
{
	static const double thresholds[] = {0.1, 100, 50, 90000};
	struct window window;

	fill(&window, 90, 5);
	for (size_t i = 0; i < 4; i++) {
		struct rule rule = {.metric = metrics[i],
				    .threshold = thresholds[i],
				    .clear = thresholds[i],
				    .confidence = 0.95};
		struct limits limits = rule_limits(&rule, rule.threshold);
		struct measured measured = {
			.tally = &window.sum, .seconds = PARTS, .parts = window.parts, .n_parts = PARTS};
		double effect = estimate_effect(&rule, &limits, &measured);
		struct estimate independent_ones, bursts;

		if (rule.metric.kind == METRIC_RATE) {
			cr_expect_eq(effect, 1, "as many samples come at all times");
			continue;
		}
		cr_expect(effect > 20 && effect < 100, "%zu: %g", i, effect);
		estimate_of(&rule, &limits, &measured, &independent_ones);
		measured.effect = effect;
		estimate_of(&rule, &limits, &measured, &bursts);
		cr_expect_eq(independent_ones.worth, 3000);
		cr_expect_eq(bursts.worth, (u64)(3000 / effect));
		cr_expect_eq(bursts.value, independent_ones.value);
		cr_expect_leq(bursts.bounds.low, independent_ones.bounds.low);
		cr_expect_geq(bursts.bounds.high, independent_ones.bounds.high);
		measured.effect = INFINITY;
		estimate_of(&rule, &limits, &measured, &bursts);
		cr_expect_eq(bursts.worth, 0);
		cr_expect_eq(bursts.bounds.low, 0);
		cr_expect_eq(bursts.bounds.high, INFINITY);
	}
}

/*
 * The verdict agrees with the bounds for any effect of bursts. The effect is the factor by which bursts
 * reduce the worth of the samples.
 */
Test(bursts, quick_verdicts_equal_those_of_the_bounds)
{
	static const double effects[] = {1, 1.7, 5, 24, 150, 1e4, INFINITY};
	static const double thresholds[4][3] = {
		{0.05, 0.12, 0.3}, {10, 100, 1024}, {20, 100, 400}, {9e4, 1e5, 2e5}};
	_cleanup_(evidence_freep) struct evidence *evidence = NULL;
	unsigned verdicts[3] = {0};

	cr_assert_eq(evidence_new(&evidence), 0);
	for (u32 slow = 0; slow <= 100; slow += 4)
		for (size_t i = 0; i < 4; i++)
			for (size_t t = 0; t < 3; t++)
				for (size_t e = 0; e < sizeof(effects) / sizeof(effects[0]); e++)
					for (int below = 0; below < 2; below++) {
						struct rule rule = {.metric = metrics[i],
								    .below = below,
								    .threshold = thresholds[i][t],
								    .clear = thresholds[i][t],
								    .confidence = 0.95};
						struct limits limits = rule_limits(&rule, rule.threshold);
						struct window window;
						struct measured measured = {.tally = &window.sum,
									    .seconds = PARTS,
									    .effect = effects[e]};
						enum verdict expected = VERDICT_BETWEEN;
						struct estimate estimate;
						bool above, under;

						fill(&window, slow, slow);
						estimate_of(&rule, &limits, &measured, &estimate);
						above = estimate.bounds.low >= limits.threshold;
						under = estimate.bounds.high <= limits.threshold;
						if (below ? under : above)
							expected = VERDICT_BREACH;
						else if (below ? above : under)
							expected = VERDICT_CLEAR;
						cr_expect_eq(
							evidence_judge(evidence, &rule, &limits, &measured),
							expected, "metric %zu, slow %u, effect %g", i, slow,
							effects[e]);
						verdicts[expected]++;
					}
	cr_expect(verdicts[VERDICT_BETWEEN] > 50 && verdicts[VERDICT_BREACH] > 50 &&
		  verdicts[VERDICT_CLEAR] > 50);
}
