// SPDX-License-Identifier: GPL-2.0
/*
 * Measures how often bounds hold, with samples drawn from distributions ("laws") whose true values are known.
 * It is seeded, and needs no test framework.
 */
#ifndef PEBSD_TEST_COVERAGE_H
#define PEBSD_TEST_COVERAGE_H

#include "window/bounds.h"

/* The bounds of a quantile of `n` independent latencies. */
static inline struct bounds quantile_bounds(const u32 histogram[FINE_BUCKETS], u64 n, double q,
					    double confidence)
{
	u64 low, high;

	bounds_ranks(n, n, q, confidence, &low, &high);
	return bounds_between_ranks(histogram, n, low, high);
}

/* Shares of the draws in which the true value was not below `low`, and not above `high`; 0 to 1. */
struct coverage {
	double low;
	double high;
};

struct coverage_settings {
	double confidence;
	unsigned draws;
	unsigned seed;
};

/* A distribution of latencies: values in cycles, with their probabilities. */
#define LAW_MAX 256
struct law {
	unsigned n;
	u32 cycles[LAW_MAX]; /* ascending */
	double chance[LAW_MAX];
};

/* Resembles caches and memory: log-normal around 30 cycles, and a twentieth around 300. */
void law_of_memory(struct law *ret);

/*
 * Two latencies far apart, each at the upper edge of its bucket, so that widening the bounds to bucket edges
 * does not help.
 */
void law_of_two(double chance_of_lower, struct law *ret);

double law_quantile(const struct law *law, double q);
double law_mean(const struct law *law, u32 cap);

struct coverage coverage_quantile(const struct coverage_settings *settings, const struct law *law, u64 n,
				  double q);

/*
 * Uses two latencies, of which the lower one has the chance `q`. The true quantile is then on the step between
 * them, where bounds fail as often as they are allowed to. `low` is judged as if the true quantile were the lower
 * latency, `high` as if it were the higher one.
 */
struct coverage coverage_edge(const struct coverage_settings *settings, u64 n, double q);

struct coverage coverage_mean(const struct coverage_settings *settings, const struct law *law, u64 n,
			      u32 cap);

struct coverage coverage_share(const struct coverage_settings *settings, u64 n, double p);

/* Draws `expected` samples on average, spread evenly over the weights. */
struct coverage coverage_rate(const struct coverage_settings *settings, double expected, const u64 *weights,
			      unsigned n_weights);

enum coverage_ratio { RATIO_P50, RATIO_P90, RATIO_MEAN, RATIO_SHARE, RATIO_RATE };

/*
 * Compares a window of `n` samples with a baseline of similar windows, which ages with a half-life of
 * `half_life` windows. All are drawn from one law, so the true ratio is 1.
 */
struct coverage coverage_ratio(const struct coverage_settings *settings, enum coverage_ratio metric, u64 n,
			       unsigned half_life);

#endif
