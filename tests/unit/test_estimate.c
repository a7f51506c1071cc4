// SPDX-License-Identifier: GPL-2.0
#include "estimate/estimate.h"

#include <criterion/criterion.h>
#include <math.h>

static void expect_near(double value, double expected, double relative)
{
	cr_expect(fabs(value - expected) <= relative * fabs(expected), "%.12g is not %.12g", value, expected);
}

static struct estimate estimate(struct metric metric, double threshold, const struct measured *measured)
{
	struct rule rule = {.metric = metric, .threshold = threshold, .clear = threshold, .confidence = 0.95};
	struct limits limits = rule_limits(&rule, threshold);
	struct estimate ret;

	estimate_of(&rule, &limits, measured, &ret);
	return ret;
}

static const struct tally some = {
	.samples = 1000,
	.weight = 100000,
	.weight_squared = 1e7,
	.latency_sum = 29600,
	.latency_samples = 990,
	.sources = {[SOURCE_L1] = 940, [SOURCE_REMOTE_DRAM] = 60},
	.hitm = 10,
	.tlb_walk = 20,
	.locked = 30,
	.latency = {[21] = 900, [29] = 90}, /* (26, 28] and (52, 56] */
};

static const struct measured of_some = {.tally = &some, .seconds = 10};

Test(estimate, a_quantile_has_the_edges_of_its_buckets_as_bounds)
{
	struct estimate ret =
		estimate((struct metric){.kind = METRIC_QUANTILE, .quantile = 0.5}, 96, &of_some);

	cr_expect(ret.known);
	cr_expect_eq(ret.samples, 990, "those with a latency");
	expect_near(ret.value, 26 + 2 * 495.0 / 900, 1e-9);
	cr_expect_eq(ret.bounds.low, 26);
	cr_expect_eq(ret.bounds.high, 28);

	ret = estimate((struct metric){.kind = METRIC_QUANTILE, .quantile = 0.999}, 96, &of_some);
	cr_expect(ret.known);
	cr_expect_eq(ret.bounds.low, 52);
	cr_expect_eq(ret.bounds.high, INFINITY);
}

Test(estimate, a_mean_counts_latencies_up_to_the_cap)
{
	struct estimate ret = estimate((struct metric){.kind = METRIC_MEAN}, 60, &of_some);
	double band = sqrt(990 * log(20) / 2);

	cr_expect(ret.known);
	expect_near(ret.value, 29600.0 / 990, 1e-12);
	expect_near(ret.bounds.low, (26 * 900 + 52 * (90 - band)) / 990, 1e-6);
	/* The cap of a mean is 8 times the threshold, 480 cycles, which is the edge of a bucket. */
	expect_near(ret.bounds.high, (28 * (900 - band) + 56 * 90 + 480 * band) / 990, 1e-6);
}

Test(estimate, shares_are_estimated_for_each_class)
{
	static const struct {
		struct metric metric;
		double value;
	} cases[] = {
		{{.kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = SOURCE_REMOTE_DRAM}, 0.06},
		{{.kind = METRIC_SHARE, .share = METRIC_SHARE_HITM}, 0.01},
		{{.kind = METRIC_SHARE, .share = METRIC_SHARE_TLB_WALK}, 0.02},
		{{.kind = METRIC_SHARE, .share = METRIC_SHARE_LOCKED}, 0.03},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct estimate ret = estimate(cases[i].metric, 0.5, &of_some);
		struct bounds bounds = bounds_share(1000 * cases[i].value, 1000, 0.95);

		cr_expect(ret.known);
		cr_expect_eq(ret.samples, 1000);
		expect_near(ret.value, cases[i].value, 1e-12);
		cr_expect_eq(ret.bounds.low, bounds.low);
		cr_expect_eq(ret.bounds.high, bounds.high);
	}
}

Test(estimate, a_rate_has_poisson_bounds)
{
	struct estimate ret = estimate((struct metric){.kind = METRIC_RATE}, 5000, &of_some);

	cr_expect(ret.known);
	cr_expect_eq(ret.value, 10000);
	/* 1000 Poisson events have the bounds 948.6 and 1053.5, each with 95 % confidence. */
	expect_near(ret.bounds.low, 9486, 1e-3);
	expect_near(ret.bounds.high, 10535, 1e-3);
}

Test(estimate, without_samples_a_rate_is_zero_if_the_period_is_known)
{
	static const struct tally nothing;
	const struct measured with_weight = {.tally = &nothing, .seconds = 10, .sample_weight = 100};
	const struct measured without = {.tally = &nothing, .seconds = 10};
	struct estimate ret = estimate((struct metric){.kind = METRIC_RATE}, 5000, &with_weight);

	cr_expect(ret.known);
	cr_expect_eq(ret.value, 0);
	cr_expect_eq(ret.bounds.low, 0);
	expect_near(ret.bounds.high, -log(0.05) * 10, 1e-6);

	ret = estimate((struct metric){.kind = METRIC_RATE}, 5000, &without);
	cr_expect_not(ret.known);
	cr_expect_eq(ret.bounds.high, INFINITY);
}

Test(estimate, figures_that_the_event_lacks_are_unknown)
{
	const struct tally bare = {.samples = 1000, .sources = {[SOURCE_L1] = 1000}};
	const struct measured measured = {.tally = &bare, .seconds = 10, .sample_weight = 7};
	const struct measured timeless = {.tally = &some};

	cr_expect_not(
		estimate((struct metric){.kind = METRIC_QUANTILE, .quantile = 0.5}, 96, &measured).known);
	cr_expect_not(estimate((struct metric){.kind = METRIC_MEAN}, 96, &measured).known);
	cr_expect_not(estimate((struct metric){.kind = METRIC_RATE}, 96, &measured).known,
		      "samples without weights");
	cr_expect(estimate((struct metric){.kind = METRIC_SHARE, .share = METRIC_SHARE_HITM}, 0.1, &measured)
			  .known);
	cr_expect_not(estimate((struct metric){.kind = METRIC_RATE}, 96, &timeless).known);
}

Test(estimate, parts_that_exceed_the_total_are_capped)
{
	const struct tally ahead = {.samples = 3, .weight = 3, .weight_squared = 3, .hitm = 4};
	const struct measured measured = {.tally = &ahead, .seconds = 10};
	struct estimate ret =
		estimate((struct metric){.kind = METRIC_SHARE, .share = METRIC_SHARE_HITM}, 0.1, &measured);

	cr_expect_eq(ret.value, 1);
	cr_expect_eq(ret.bounds.high, 1);
}

Test(estimate, a_ratio_divides_the_error_between_both_windows)
{
	const struct tally base = {.samples = 10000, .hitm = 50};
	const struct measured measured = {.tally = &some, .seconds = 10, .base = &base, .base_seconds = 100};
	struct estimate ret =
		estimate((struct metric){.kind = METRIC_SHARE, .ratio = true, .share = METRIC_SHARE_HITM},
			 1.5, &measured);
	struct bounds now = bounds_share(10, 1000, 0.975);
	struct bounds before = bounds_share(50, 10000, 0.975);

	cr_expect(ret.known);
	cr_expect_eq(ret.samples, 1000);
	cr_expect_eq(ret.base_samples, 10000);
	expect_near(ret.value, 2, 1e-12);
	cr_expect_eq(ret.bounds.low, now.low / before.high);
	cr_expect_eq(ret.bounds.high, now.high / before.low);
}

Test(estimate, a_ratio_of_means_caps_both_means)
{
	struct tally tail = some;
	struct measured measured = {.tally = &tail, .seconds = 10, .base = &tail, .base_seconds = 10};
	struct estimate ret;

	/* 90 of 990 latencies are in the overflow bucket, in the window and in the baseline: nothing has risen. */
	tail.latency[29] = 0;
	tail.latency[FINE_OVERFLOW] = 90;
	ret = estimate((struct metric){.kind = METRIC_MEAN, .ratio = true}, 1.5, &measured);
	cr_expect(ret.known);
	cr_expect_eq(ret.value, 1);
	cr_expect_leq(ret.bounds.low, 1);
	cr_expect_gt(ret.bounds.high, 1);
}

Test(estimate, a_ratio_without_baseline_is_unknown)
{
	const struct metric metric = {.kind = METRIC_SHARE, .ratio = true, .share = METRIC_SHARE_HITM};
	const struct tally never = {.samples = 10000};
	const struct tally nothing = {0};
	struct measured measured = {.tally = &some, .seconds = 10};
	struct estimate ret = estimate(metric, 1.5, &measured);

	cr_expect_not(ret.known, "no baseline");
	cr_expect_eq(ret.base_samples, 0);
	measured.base = &nothing;
	cr_expect_not(estimate(metric, 1.5, &measured).known, "an empty one");

	measured.base = &never;
	ret = estimate(metric, 1.5, &measured);
	cr_expect(ret.known, "it never was, and is now");
	cr_expect_eq(ret.value, INFINITY);
	expect_near(ret.bounds.low, bounds_share(10, 1000, 0.975).low / bounds_share(0, 10000, 0.975).high,
		    1e-12);
	cr_expect_eq(ret.bounds.high, INFINITY);

	measured.tally = &never;
	cr_expect_not(estimate(metric, 1.5, &measured).known, "zero is not a multiple of zero");
}
