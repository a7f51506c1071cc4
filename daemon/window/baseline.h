// SPDX-License-Identifier: GPL-2.0
/*
 * The baseline of a target: everything before its window, weighted by age. The weight halves with each
 * half-life. Pure functions.
 */
#ifndef PEBSD_BASELINE_H
#define PEBSD_BASELINE_H

#include "window/tally.h"

struct baseline {
	u64 at_ns;              /* time to which the sums have been aged */
	double seconds;         /* observed time, weighted by age like the samples */
	double seconds_squared; /* sum of squared weights of that time */
	double samples;         /* sum of the samples' weights by age */
	double samples_squared; /* sum of squared weights; effective number of samples: samples^2 / this */
	double weight;          /* sum of periods, weighted by age */
	double weight_squared;  /* sum of the squares of period x weight by age */
	double latency_sum;
	float sources[SOURCE_SLOTS];
	float hitm;
	float tlb_walk;
	float locked;
	float latency[FINE_BUCKETS];
};

/*
 * Adds `tally`, which was counted in the `seconds` before `now_ns` (growing). Time without samples counts
 * too, for the rate: add it with an all-zero `tally`.
 */
void baseline_add(struct baseline *baseline, u64 half_life_ns, u64 now_ns, double seconds,
		  const struct tally *tally);

/*
 * The time that the baseline covers, in seconds: a time of this length, all with the same weight, would have as much
 * information. Age alone does not change it.
 */
double baseline_covered(const struct baseline *baseline);

/*
 * Converts the baseline to a tally as if it had been counted. Shares and quantiles are those of the baseline,
 * each count rounded. `samples` is the effective number of samples, so that confidence intervals hold.
 * `weight` is the sum weighted by age; divide it by *ret_seconds for a rate.
 */
void baseline_tally(const struct baseline *baseline, struct tally *ret, double *ret_seconds);

#endif
