// SPDX-License-Identifier: GPL-2.0
/*
 * Figures: the counters of one event, for one cgroup or a sum of cgroups, over some time. All have 64 bits,
 * so that they can be added for as long as the daemon lives. They are made from map records (records.h) and
 * their differences.
 */
#ifndef PEBSD_FIGURES_H
#define PEBSD_FIGURES_H

#include <stdbool.h>

#include "pebsd/records.h"

#define FIGURES_FLAG_(name, ...) u64 name;

struct figures {
	u64 samples[SOURCE_SLOTS];
	u64 weight[SOURCE_SLOTS];           /* sum of periods */
	u64 latency_sum[SOURCE_SLOTS];      /* cycles */
	u64 weighted_latency[SOURCE_SLOTS]; /* cycles x period; stays at 2^64 - 1 once there */
	u64 snoop[SNOOP_SLOTS];
	u64 tlb[TLB_SLOTS];
	union {
		struct {
			ACCESS_FLAGS(FIGURES_FLAG_)
		};
		u64 flags[FLAG_COUNT];
	};
	u64 instruction_latency_sum; /* cycles */
	u64 latency[FINE_BUCKETS];
	u64 source_latency[SOURCE_SLOTS][OCTAVE_BUCKETS];
	u64 instruction_latency[COARSE_BUCKETS];
};

/* Number of counters in struct figures: every member is an u64. */
#define FIGURES_COUNTERS (sizeof(struct figures) / sizeof(u64))

/*
 * Identifies the order and the meaning of the counters: a hash of their names and places. Counters that another
 * version of pebsd saved can be read if that version has the same value.
 */
u32 figures_layout(void);

/* Returns a + b, or 2^64 - 1 if the sum is larger. */
static inline u64 add_saturating(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? ~0ULL : sum;
}

/* sum += addend, each counter saturating at 2^64 - 1. */
void figures_add(struct figures *sum, const struct figures *addend);

/* The counters of one record. Nothing may write to the record during the call. */
void figures_of_latency(const struct latency_record *record, struct figures *ret);
void figures_of_plain(const struct plain_record *record, struct figures *ret);

/* Sums over the sources. */
u64 figures_samples(const struct figures *figures);
u64 figures_weight(const struct figures *figures);
u64 figures_latency_sum(const struct figures *figures);
u64 figures_weighted_latency(const struct figures *figures);

/*
 * Samples that have a latency, as counted by the histogram. A sample that is being accounted during the reading
 * may be in the histogram one reading earlier or later than in `samples`.
 */
u64 figures_latency_samples(const struct figures *figures);
u64 figures_instruction_latency_samples(const struct figures *figures);

/*
 * Samples whose address translation needed a page walk: the sum of TLB_WALK, TLB_MISS and TLB_FAULT. The
 * drivers of Intel PEBS and AMD IBS report a walk as TLB_MISS.
 */
u64 figures_tlb_walk(const struct figures *figures);

#endif
