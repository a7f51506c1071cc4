// SPDX-License-Identifier: GPL-2.0
#include "window/bounds.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>

#include "coverage.h"

static void expect_near(double value, double expected, double relative)
{
	cr_expect(fabs(value - expected) <= relative * fabs(expected), "%.12g is not %.12g", value, expected);
}

/*
 * The probability of at most `k` successes in `n` trials. It is summed term by term, without the library
 * under test.
 */
static double at_most(u64 k, u64 n, double p)
{
	double sum = 0;

	for (u64 i = 0; i <= k; i++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
			   (double)i * log(p) + (double)(n - i) * log1p(-p));
	return sum;
}

static double at_least(u64 k, u64 n, double p)
{
	return k == 0 ? 1 : at_most(n - k, n, 1 - p);
}

/* The probability that a gamma variable of scale 1 is at most `x`, by its series. */
static double gamma_at_most(double shape, double x)
{
	double term = exp(shape * log(x) - x - lgamma(shape + 1));
	double sum = 0;

	for (unsigned i = 1; i < 100000 && term > 1e-18 * sum; i++) {
		sum += term;
		term *= x / (shape + i);
	}
	return sum;
}

Test(bounds, ranks_equal_those_of_textbooks)
{
	static const struct {
		u64 n;
		double q;
		double confidence;
		u64 low, high;
	} cases[] = {
		/* With at least 95 %, the median of 20 lies between ranks 6 and 15, that of 10 between 2 and 9. */
		{20, 0.5, 0.975, 6, 15},
		{10, 0.5, 0.975, 2, 9},
		{5, 0.5, 0.95, 1, 5},
		{4, 0.5, 0.95, 0, 5},
		{1, 0.5, 0.5, 1, 1},
		{0, 0.5, 0.95, 0, 1},
		{298, 0.99, 0.95, 292, 299},
		{299, 0.99, 0.95, 293, 299},
		{2994, 0.999, 0.95, 2988, 2995},
		{2995, 0.999, 0.95, 2989, 2995},
		{9205, 0.999, 0.9999, 9183, 9206},
		{9206, 0.999, 0.9999, 9184, 9206},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u64 low, high;

		bounds_ranks(cases[i].n, cases[i].n, cases[i].q, cases[i].confidence, &low, &high);
		cr_expect_eq(low, cases[i].low, "low of %llu, %g: %llu", cases[i].n, cases[i].q, low);
		cr_expect_eq(high, cases[i].high, "high of %llu, %g: %llu", cases[i].n, cases[i].q, high);
	}
}

Test(bounds, ranks_are_the_closest_that_the_tails_allow)
{
	static const double qs[] = {0.5, 0.9, 0.95, 0.99, 0.999};
	static const double confidences[] = {0.6, 0.9, 0.95, 0.99, 0.9999};
	static const u64 ns[] = {1, 2, 3, 7, 19, 58, 59, 100, 299, 500, 1234, 2995, 4000};
	unsigned both = 0;

	for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++)
		for (size_t j = 0; j < sizeof(confidences) / sizeof(confidences[0]); j++)
			for (size_t k = 0; k < sizeof(ns) / sizeof(ns[0]); k++) {
				double chance = (1 - confidences[j]) * (1 + 1e-7);
				double q = qs[i];
				u64 n = ns[k];
				u64 low, high;

				bounds_ranks(n, n, q, confidences[j], &low, &high);
				/*
				 * Each rank is wrong rarely enough. The next rank further in would be wrong
				 * too often.
				 */
				cr_expect_leq(low, n);
				cr_expect(low == 0 || at_most(low - 1, n, q) <= chance);
				cr_expect(at_most(low, n, q) > chance * (1 - 2e-7), "%llu of %llu, p%g", low,
					  n, q * 100);
				cr_expect(high > n || at_least(high, n, q) <= chance);
				cr_expect(at_least(high - 1, n, q) > chance * (1 - 2e-7), "%llu of %llu, p%g",
					  high, n, q * 100);
				cr_expect_eq(high <= n && low > 0,
					     n >= bounds_quantile_needs(q, confidences[j]));
				both += high <= n && low > 0;
			}
	cr_expect_gt(both, 100);
}

Test(bounds, a_single_rank_agrees_with_the_nearest)
{
	u64 low, high;

	bounds_ranks(400, 400, 0.9, 0.95, &low, &high);
	for (u64 rank = 0; rank <= 402; rank++) {
		cr_expect_eq(bounds_rank_is_low(rank, 400, 0.9, 0.95), rank >= 1 && rank <= low);
		cr_expect_eq(bounds_rank_is_high(rank, 400, 0.9, 0.95), rank >= high);
	}
}

Test(bounds, a_quantile_needs_the_samples_that_the_formula_gives)
{
	cr_expect_eq(bounds_quantile_needs(0.5, 0.95), 5);
	cr_expect_eq(bounds_quantile_needs(0.9, 0.95), 29);
	cr_expect_eq(bounds_quantile_needs(0.95, 0.95), 59);
	cr_expect_eq(bounds_quantile_needs(0.99, 0.95), 299);
	cr_expect_eq(bounds_quantile_needs(0.999, 0.95), 2995);
	cr_expect_eq(bounds_quantile_needs(0.999, 0.975), 3688);
	cr_expect_eq(bounds_quantile_needs(0.999, 0.9999), 9206);
	cr_expect_eq(bounds_quantile_needs(0.01, 0.95), 299, "as near to the other end");
	cr_expect_eq(bounds_quantile_needs(0.5, 0.5), 1);
	cr_expect_eq(bounds_quantile_needs(0.5, 0.75), 2, "a quarter is not missed by a last digit");
	cr_expect_eq(bounds_quantile_needs(0.9, 0.1 + 0.8), 22);
}

Test(bounds, quantile_lies_between_outer_edges)
{
	/*
	 * 20 latencies, ranks 6 and 15: the bucket (16, 18] holds the first 6, and (60, 64] holds the 15th.
	 */
	u32 histogram[FINE_BUCKETS] = {0};
	struct bounds bounds;

	histogram[histogram_fine_index(17)] = 6;
	histogram[histogram_fine_index(30)] = 8;
	histogram[histogram_fine_index(64)] = 6;
	bounds = quantile_bounds(histogram, 20, 0.5, 0.975);
	cr_expect_eq(bounds.low, 16);
	cr_expect_eq(bounds.high, 64);

	histogram[histogram_fine_index(17)] = 5;
	histogram[histogram_fine_index(30)] = 10;
	histogram[histogram_fine_index(64)] = 5;
	bounds = quantile_bounds(histogram, 20, 0.5, 0.975);
	cr_expect_eq(bounds.low, histogram_fine_lower(histogram_fine_index(30)));
	cr_expect_eq(bounds.high, histogram_fine_upper(histogram_fine_index(30)));
}

Test(bounds, too_few_samples_yield_no_quantile_bounds)
{
	u32 histogram[FINE_BUCKETS] = {0};
	struct bounds bounds = quantile_bounds(histogram, 0, 0.5, 0.95);

	cr_expect_eq(bounds.low, 0);
	cr_expect_eq(bounds.high, INFINITY);

	histogram[100] = 2994;
	bounds = quantile_bounds(histogram, 2994, 0.999, 0.95);
	cr_expect_eq(bounds.low, histogram_fine_lower(100));
	cr_expect_eq(bounds.high, INFINITY, "one sample short");
	histogram[100] = 2995;
	bounds = quantile_bounds(histogram, 2995, 0.999, 0.95);
	cr_expect_eq(bounds.high, histogram_fine_upper(100));

	histogram[100] = 0;
	histogram[FINE_OVERFLOW] = 5000;
	bounds = quantile_bounds(histogram, 5000, 0.5, 0.95);
	cr_expect_eq(bounds.low, 1 << HISTOGRAM_MAX_LOG2);
	cr_expect_eq(bounds.high, INFINITY, "the last bucket has no upper edge");
}

Test(bounds, a_quantile_of_the_largest_counts_has_bounds)
{
	u32 histogram[FINE_BUCKETS] = {[40] = ~0U, [60] = ~0U};
	u64 n = 2 * (u64)~0U;
	u64 low, high;
	struct bounds bounds = quantile_bounds(histogram, n, 0.5, 0.9999);

	cr_expect_eq(bounds.low, histogram_fine_lower(40));
	cr_expect_eq(bounds.high, histogram_fine_upper(60));

	/* 3.719 standard deviations, each half the root of n, are 172,343 ranks from the middle. */
	bounds_ranks(n, n, 0.5, 0.9999, &low, &high);
	expect_near((double)n / 2 - (double)low, 3.719016 * sqrt((double)n) / 2, 1e-4);
	expect_near((double)high - (double)n / 2, 3.719016 * sqrt((double)n) / 2, 1e-4);

	/* The counters are full. The missing samples may have been anywhere. */
	bounds = quantile_bounds(histogram, n + 1000000, 0.9999, 0.95);
	cr_expect_eq(bounds.high, INFINITY);
}

Test(bounds, bounds_of_shares_equal_those_of_textbooks)
{
	static const struct {
		double k, n, confidence, low, high;
	} cases[] = {
		{0, 20, 0.975, 0, 0.16843348},           {1, 10, 0.975, 0.0025285786, 0.44501612},
		{10, 20, 0.975, 0.27195679, 0.72804321}, {0, 299, 0.95, 0, 0.0099691},
		{20, 20, 0.975, 0.83156652, 1},          {1, 1, 0.5, 0.5, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bounds bounds = bounds_share(cases[i].k, cases[i].n, cases[i].confidence);

		expect_near(bounds.low, cases[i].low, 1e-5);
		expect_near(bounds.high, cases[i].high, 1e-5);
	}
}

Test(bounds, tails_of_a_share_have_the_promised_probability)
{
	static const double confidences[] = {0.5, 0.9, 0.95, 0.9999};
	static const u64 ns[] = {1, 2, 10, 100, 1000, 3000};

	for (size_t i = 0; i < sizeof(confidences) / sizeof(confidences[0]); i++)
		for (size_t j = 0; j < sizeof(ns) / sizeof(ns[0]); j++)
			for (u64 k = 0; k <= ns[j]; k += 1 + ns[j] / 7) {
				double chance = 1 - confidences[i];
				struct bounds bounds = bounds_share((double)k, (double)ns[j], confidences[i]);

				if (k > 0)
					expect_near(at_least(k, ns[j], bounds.low), chance, 1e-6);
				if (k < ns[j])
					expect_near(at_most(k, ns[j], bounds.high), chance, 1e-6);
			}
}

Test(bounds, shares_of_0_and_1_have_bounds)
{
	struct bounds bounds = bounds_share(0, 0, 0.95);

	cr_expect_eq(bounds.low, 0);
	cr_expect_eq(bounds.high, 1);

	bounds = bounds_share(0, 0x1p32, 0.9999);
	cr_expect_eq(bounds.low, 0);
	expect_near(bounds.high, -log(1e-4) / 0x1p32, 1e-6);
	bounds = bounds_share(0x1p32, 0x1p32, 0.9999);
	cr_expect_eq(bounds.high, 1);
	expect_near(1 - bounds.low, -log(1e-4) / 0x1p32, 1e-6);
	/* The bounds are 1.6449 standard deviations away. */
	bounds = bounds_share(0x1p31, 0x1p32, 0.95);
	expect_near(bounds.high - 0.5, 1.644854 * 0.5 / 0x1p16, 1e-3);
	expect_near(0.5 - bounds.low, 1.644854 * 0.5 / 0x1p16, 1e-3);

	/* Effective counts are not whole numbers. The bound of 3.5 lies between those of 3 and 4. */
	cr_expect_gt(bounds_share(3.5, 10, 0.95).low, bounds_share(3, 10, 0.95).low);
	cr_expect_lt(bounds_share(3.5, 10, 0.95).low, bounds_share(4, 10, 0.95).low);
}

Test(bounds, bounds_of_rates_equal_those_of_textbooks)
{
	/* From Garwood's table of Poisson limits. */
	static const struct {
		u64 samples;
		double confidence, low, high;
	} cases[] = {
		{0, 0.975, 0, 3.688879},         {0, 0.95, 0, 2.995732},
		{1, 0.975, 0.0253178, 5.571643}, {10, 0.975, 4.795389, 18.39036},
		{10, 0.95, 5.425406, 16.96222},  {100, 0.975, 81.36399, 121.6269},
		{50, 0.995, 33.66407, 71.26582},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u64 n = cases[i].samples;
		struct bounds bounds =
			bounds_rate(n, 1000 * n, 1e6 * (double)n, 1000, 10, 1, cases[i].confidence);

		expect_near(bounds.low, cases[i].low * 100, 1e-5);
		expect_near(bounds.high, cases[i].high * 100, 1e-5);
	}
}

Test(bounds, a_rate_of_different_weights_has_wider_bounds)
{
	/*
	 * 100 samples of weight 1 and 5 of weight 20: y = 200 and v = 2100. With these sums, no weight
	 * exceeds 43.17.
	 */
	double y = 200;
	double v = 2100;
	double largest = y / 105 + sqrt((v - y * y / 105) * 104 / 105);
	struct bounds bounds = bounds_rate(105, 200, 2100, 0, 1, 1, 0.95);
	struct bounds_weights weights = bounds_weights(105, 200, 2100, 0);

	cr_expect_gt(largest, 20);
	expect_near(weights.low_number, y * y / v, 1e-12);
	expect_near(weights.high_number, (y + largest) * (y + largest) / (v + largest * largest), 1e-12);
	expect_near(gamma_at_most(y * y / v, bounds.low / (v / y)), 0.05, 1e-6);
	expect_near(gamma_at_most(weights.high_number, bounds.high * (y + largest) / (v + largest * largest)),
		    0.95, 1e-6);

	/* The largest known weight raises the upper bound, even if no sample with that weight came. */
	cr_expect_gt(bounds_rate(105, 200, 2100, 1000, 1, 1, 0.95).high, bounds.high + 1000);
	cr_expect_eq(bounds_rate(105, 200, 2100, 20, 1, 1, 0.95).high, bounds.high);
	cr_expect_eq(bounds_rate(105, 200, 2100, 1000, 1, 1, 0.95).low, bounds.low);
}

Test(bounds, an_unknown_rate_has_no_upper_bound)
{
	struct bounds bounds = bounds_rate(0, 0, 0, 0, 10, 1, 0.95);

	cr_expect_eq(bounds.low, 0);
	cr_expect_eq(bounds.high, INFINITY, "what one would weigh is not known");
	bounds = bounds_rate(7, 0, 0, 0, 10, 1, 0.95);
	cr_expect_eq(bounds.high, INFINITY);
	bounds = bounds_rate(7, 7, 7, 1, 0, 1, 0.95);
	cr_expect_eq(bounds.low, 0);
	cr_expect_eq(bounds.high, INFINITY, "in no time");
}

Test(bounds, rounded_squares_yield_the_rate_of_equal_weights)
{
	struct bounds exact = bounds_rate(1000, 10007000, 10007.0 * 10007 * 1000, 10007, 30, 1, 0.95);
	struct bounds above =
		bounds_rate(1000, 10007000, 10007.0 * 10007 * 1000 * (1 + 1e-12), 10007, 30, 1, 0.95);
	struct bounds below =
		bounds_rate(1000, 10007000, 10007.0 * 10007 * 1000 * (1 - 1e-12), 10007, 30, 1, 0.95);

	expect_near(above.low, exact.low, 1e-9);
	expect_near(above.high, exact.high, 1e-9);
	expect_near(below.low, exact.low, 1e-9);
	expect_near(below.high, exact.high, 1e-9);
}

Test(bounds, a_mean_has_the_bounds_of_its_band)
{
	/* All 200 latencies are in (28, 30]. The 95 % band is sqrt(200 ln 20 / 2) = 17.3 samples wide. */
	const double band = sqrt(100 * log(20));
	u32 histogram[FINE_BUCKETS] = {0};
	u32 bucket = histogram_fine_index(30);
	struct bounds bounds;

	histogram[bucket] = 200;
	bounds = bounds_mean(histogram, 200, 512, 1, 0.95);
	expect_near(bounds.low, 28 * (200 - band) / 200, 1e-6);
	expect_near(bounds.high, (30 * (200 - band) + 512 * band) / 200, 1e-6);

	/*
	 * 20 latencies are in the overflow bucket. For `low`, 17.3 of them count as 0. For `high`, all 20
	 * count as the cap of 512, and so do the 17.3 smallest latencies.
	 */
	histogram[bucket] = 180;
	histogram[FINE_OVERFLOW] = 20;
	bounds = bounds_mean(histogram, 200, 512, 1, 0.95);
	expect_near(bounds.low, (28 * 180 + 1048576 * (20 - band)) / 200, 1e-6);
	expect_near(bounds.high, (30 * (180 - band) + 512 * (20 + band)) / 200, 1e-6);
	bounds = bounds_capped_mean(histogram, 200, 512, 1, 0.95);
	expect_near(bounds.low, (28 * 180 + 512 * (20 - band)) / 200, 1e-6);
	expect_near(bounds.high, (30 * (180 - band) + 512 * (20 + band)) / 200, 1e-6);
}

Test(bounds, too_few_samples_yield_no_mean_bounds)
{
	u32 histogram[FINE_BUCKETS] = {[20] = 1};
	struct bounds bounds = bounds_mean(histogram, 1, 512, 1, 0.95);

	cr_expect_eq(bounds.low, 0);
	cr_expect_eq(bounds.high, INFINITY, "the band is wider than all there is");
	histogram[20] = 0;
	bounds = bounds_mean(histogram, 0, 512, 1, 0.95);
	cr_expect_eq(bounds.low, 0);
	cr_expect_eq(bounds.high, INFINITY);

	/* Latencies that a full counter could not hold count as the greatest possible value. */
	histogram[20] = ~0U;
	bounds = bounds_mean(histogram, 2 * (u64)~0U, 512, 1, 0.95);
	cr_expect_gt(bounds.high, 256);
	cr_expect_leq(bounds.low, histogram_fine_lower(20));
}

Test(bounds, a_ratio_divides_opposite_bounds)
{
	const struct bounds now = {200, 300};
	const struct bounds base = {50, 100};
	const struct bounds from_nothing = {0, 100};
	const struct bounds open = {50, INFINITY};
	struct bounds ratio = bounds_ratio(&now, &base);

	cr_expect_eq(ratio.low, 2);
	cr_expect_eq(ratio.high, 6);
	ratio = bounds_ratio(&now, &from_nothing);
	cr_expect_eq(ratio.low, 2);
	cr_expect_eq(ratio.high, INFINITY);
	ratio = bounds_ratio(&now, &open);
	cr_expect_eq(ratio.low, 0);
	cr_expect_eq(ratio.high, 6);
	ratio = bounds_ratio(&from_nothing, &from_nothing);
	cr_expect_eq(ratio.low, 0);
	cr_expect_eq(ratio.high, INFINITY);
	ratio = bounds_ratio(&open, &open);
	cr_expect_eq(ratio.low, 0);
	cr_expect_eq(ratio.high, INFINITY);
}

/* R's library reports a loss of precision on stdout, which belongs to the daemon. */
Test(bounds, no_function_prints, .init = cr_redirect_stdout)
{
	static const double confidences[] = {0.5, 0.75, 0.95, 0.9999, 0.99995};
	double sum = 0;

	for (size_t i = 0; i < sizeof(confidences) / sizeof(confidences[0]); i++)
		for (u64 n = 1; n < 1ULL << 40; n = n * 3 + n / 3 + 1)
			for (unsigned part = 0; part < 24; part++) {
				double share = exp2((double)part - 24) * (1 - exp2(-(double)part - 1));
				double c = confidences[i];
				double k = floor(share * (double)n);
				u64 low, high;

				sum += bounds_share(k, (double)n, c).low +
				       bounds_share(share * (double)n, (double)n, c).high;
				sum += bounds_rate((u64)k, 3 * (u64)k, 9.5 * k, 3, 1, 1, c).low;
				bounds_ranks(n, n, share, c, &low, &high);
				cr_assert_leq(low, high);
				bounds_ranks(n, n, 1 - share, c, &low, &high);
				cr_assert_leq(low, high);
			}
	cr_expect(isfinite(sum));
	(void)fflush(stdout);
	cr_expect_stdout_eq_str("");
}

/*
 * The bounds must hold as often as promised, within 1.5 percentage points: three standard deviations of 2,000
 * draws at 95 %.
 */
/* Given the sum of both numbers, the number of one is a binomial variable: 500 of 1,300. */
Test(bounds, a_ratio_of_two_rates_is_that_of_a_share)
{
	const struct bounds_counted now = {500, 50000, 5e6, 0, 10, 1}, base = {800, 160000, 3.2e7, 0, 20, 1};
	struct bounds ratio = bounds_rate_ratio(&now, &base, 0.95);
	struct bounds share = bounds_share(500, 1300, 0.95);
	struct bounds_counted in_groups = now, without_time = base;

	/* 50,000 / 10 a second, divided by 160,000 / 20. */
	cr_expect(ratio.low < 0.625 && ratio.high > 0.625);
	expect_near(ratio.low, share.low / (1 - share.low), 1e-9);
	expect_near(ratio.high, share.high / (1 - share.high), 1e-9);
	in_groups.effect = 4;
	cr_expect_lt(bounds_rate_ratio(&in_groups, &base, 0.95).low, ratio.low);
	cr_expect_gt(bounds_rate_ratio(&in_groups, &base, 0.95).high, ratio.high);
	in_groups.effect = INFINITY;
	ratio = bounds_rate_ratio(&in_groups, &base, 0.95);
	cr_expect(ratio.low == 0 && isinf(ratio.high));
	without_time.seconds = 0;
	ratio = bounds_rate_ratio(&now, &without_time, 0.95);
	cr_expect(ratio.low == 0 && isinf(ratio.high));
}

static void expect_holds(const char *what, double n, struct coverage coverage, double promised)
{
	cr_expect_gt(coverage.low, promised - 0.015, "low of %s, n = %g: %g", what, n, coverage.low);
	cr_expect_gt(coverage.high, promised - 0.015, "high of %s, n = %g: %g", what, n, coverage.high);
}

Test(bounds, bounds_hold_as_often_as_promised)
{
	static const u64 ns[] = {20, 300, 3000};
	static const u64 weights[] = {1009, 10007};
	struct coverage_settings settings = {.confidence = 0.95, .draws = 2000, .seed = 7};
	struct law law;

	law_of_memory(&law);
	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		double n = (double)ns[i];

		expect_holds("p50", n, coverage_edge(&settings, ns[i], 0.5), 0.95);
		expect_holds("p99", n, coverage_edge(&settings, ns[i], 0.99), 0.95);
		expect_holds("p99 of memory", n, coverage_quantile(&settings, &law, ns[i], 0.99), 0.95);
		expect_holds("mean", n, coverage_mean(&settings, &law, ns[i], 512), 0.95);
		expect_holds("share", n, coverage_share(&settings, ns[i], 0.03), 0.95);
		expect_holds("rate", n, coverage_rate(&settings, n, weights, 1), 0.95);
		expect_holds("rate of two weights", n, coverage_rate(&settings, n, weights, 2), 0.95);
	}
}

/*
 * The bounds hold hardly more often than promised, if no bucket edges widen them. A bound that always holds
 * would say nothing.
 */
Test(bounds, bounds_are_not_wider_than_needed)
{
	static const u64 weights[] = {10007};
	struct coverage_settings settings = {.confidence = 0.95, .draws = 2000, .seed = 7};
	struct coverage edge = coverage_edge(&settings, 3000, 0.9);
	struct coverage share = coverage_share(&settings, 3000, 0.3);
	struct coverage rate = coverage_rate(&settings, 3000, weights, 1);

	cr_expect_lt(edge.low, 0.97);
	cr_expect_lt(edge.high, 0.97);
	cr_expect_lt(share.low, 0.97);
	cr_expect_lt(share.high, 0.97);
	cr_expect_lt(rate.low, 0.97);
	cr_expect_lt(rate.high, 0.97);
}
