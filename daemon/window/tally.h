// SPDX-License-Identifier: GPL-2.0
/*
 * A tally: those counters of one cgroup and event that rules need, over a window. It takes about a seventh of the
 * memory of struct counters.
 */
#ifndef PEBSD_TALLY_H
#define PEBSD_TALLY_H

#include <stddef.h>

#include "collect/counters.h"

struct tally {
	u64 samples;
	u64 weight;            /* sum of periods */
	double weight_squared; /* sum of squared periods; exact if all samples of a collection have one period */
	u64 latency_sum;       /* cycles */
	u64 latency_samples; /* samples in the histogram */
	u32 sources[SOURCE_SLOTS];
	u32 hitm;
	u32 tlb_walk;
	u32 locked;
	u32 latency[FINE_BUCKETS];
};

/*
 * The tally of one collection's delta, from packed counters (collect/packed.h). Counters of 32 bits stay at
 * 2^32 - 1.
 */
void tally_of(const u8 *packed, size_t size, struct tally *ret);

void tally_add(struct tally *sum, const struct tally *addend);

/* Subtracts a tally that was added before. The sum is exactly zero if no sample is left. */
void tally_subtract(struct tally *sum, const struct tally *part);

/* Number of latencies above the upper edge of fine bucket `bucket`. */
u64 tally_above(const struct tally *tally, u32 bucket);

#endif
