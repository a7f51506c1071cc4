// SPDX-License-Identifier: GPL-2.0
/*
 * What is usual for a subject: everything before its window, weighted by age, half as much each half-life.
 * Pure.
 */
#ifndef PEBSD_BASELINE_H
#define PEBSD_BASELINE_H

#include "window/tally.h"

struct baseline {
	u64 at_ns;              /* as of when the sums are */
	double seconds;         /* of time, weighted as the samples of it are */
	double samples;         /* sums of weights by age */
	double samples_squared; /* sum of their squares: the effective number is samples^2 / samples_squared
				 */
	double latency_samples;
	double weight;         /* of periods */
	double weight_squared; /* sum of their squares, and of the weights by age with them */
	double latency_sum;
	float sources[SOURCE_SLOTS];
	float hitm;
	float tlb_walk;
	float locked;
	float latency[FINE_BUCKETS];
};

/* `tally` was counted in the `seconds` before `now_ns` (growing). A time without samples counts too (rate):
 * then `tally` is all zero. */
void baseline_add(struct baseline *baseline, u64 half_life_ns, u64 now_ns, double seconds,
		  const struct tally *tally);

/*
 * The baseline as if it had been counted: shares and quantiles as it has them, each count to the nearest,
 * with the effective number of samples, so that intervals hold. `weight` is the sum by age, and
 * `*ret_seconds` what it is to be divided by for a rate.
 */
void baseline_tally(const struct baseline *baseline, struct tally *ret, double *ret_seconds);

#endif
