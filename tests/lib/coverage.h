// SPDX-License-Identifier: GPL-2.0
/* How often bounds hold, by drawing from laws whose figures are known. Seeded; needs no test framework. */
#ifndef PEBSD_TEST_COVERAGE_H
#define PEBSD_TEST_COVERAGE_H

#include "pebsd/histogram.h"

/* In how many of the draws the true value was not below `low`, and not above `high`; 0 to 1. */
struct coverage {
	double low;
	double high;
};

struct coverage_settings {
	double confidence;
	unsigned draws;
	unsigned seed;
};

/* Latencies: so many cycles, with such a chance each. */
#define LAW_MAX 256
struct law {
	unsigned n;
	u32 cycles[LAW_MAX]; /* growing */
	double chance[LAW_MAX];
};

/* What caches and memory do: log-normal around 30 cycles, and a twentieth around 300. */
void law_of_memory(struct law *ret);

/* Two latencies far from each other, each the upper edge of its bucket: nothing is gained by widening to
 * edges. */
void law_of_two(double chance_of_lower, struct law *ret);

double law_quantile(const struct law *law, double q);
double law_mean(const struct law *law, u32 cap);

struct coverage coverage_quantile(const struct coverage_settings *settings, const struct law *law, u64 n,
				  double q);

/* Two latencies, with the quantile at the last of the lower ones for `low`, and at the first of the higher
 * ones for `high`: where bounds fail as often as they may. */
struct coverage coverage_edge(const struct coverage_settings *settings, u64 n, double q);

struct coverage coverage_mean(const struct coverage_settings *settings, const struct law *law, u64 n,
			      u32 cap);

struct coverage coverage_share(const struct coverage_settings *settings, u64 n, double p);

/* `expected` samples in all, in equal parts of each of the weights. */
struct coverage coverage_rate(const struct coverage_settings *settings, double expected, const u64 *weights,
			      unsigned n_weights);

enum coverage_ratio { RATIO_P50, RATIO_P90, RATIO_MEAN, RATIO_SHARE, RATIO_RATE };

/* A window of `n` samples against a baseline of windows like it, aged with a half-life of `half_life`
 * windows, all from one law: the ratio is 1. */
struct coverage coverage_ratio(const struct coverage_settings *settings, enum coverage_ratio metric, u64 n,
			       unsigned half_life);

#endif
