// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of one event, for one cgroup or a sum of cgroups, over some time. All have 64 bits, so that they
 * can be added for as long as the daemon lives. They are made from map records (records.h) and their deltas.
 */
#ifndef PEBSD_COUNTERS_H
#define PEBSD_COUNTERS_H

#include <stdbool.h>

#include "pebsd/records.h"

#define COUNTERS_FLAG_(name, ...) u64 name;

struct counters {
	u64 samples[SOURCE_SLOTS];
	u64 weight[SOURCE_SLOTS];           /* sum of periods */
	u64 latency_sum[SOURCE_SLOTS];      /* cycles */
	u64 weighted_latency[SOURCE_SLOTS]; /* cycles x period; stays at 2^64 - 1 once there */
	u64 snoop[SNOOP_SLOTS];
	u64 tlb[TLB_SLOTS];
	union {
		struct {
			ACCESS_FLAGS(COUNTERS_FLAG_)
		};
		u64 flags[FLAG_COUNT];
	};
	u64 instruction_latency_sum; /* cycles */
	u64 latency[FINE_BUCKETS];
	u64 source_latency[SOURCE_SLOTS][OCTAVE_BUCKETS];
	u64 instruction_latency[COARSE_BUCKETS];
};

/* Number of values in struct counters: every member is an u64. */
#define COUNTER_COUNT (sizeof(struct counters) / sizeof(u64))

/*
 * Identifies the order and the meaning of the counters: a hash of their names and places. Counters that another
 * version of pebsd saved can be read if that version has the same value.
 */
u32 counters_layout(void);

/* Returns a + b, or 2^64 - 1 if the sum is larger. */
static inline u64 add_saturating(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? ~0ULL : sum;
}

/* sum += addend, each counter saturating at 2^64 - 1. */
void counters_add(struct counters *sum, const struct counters *addend);

/* The counters of one record. Nothing may write to the record during the call. */
void counters_of_latency(const struct latency_record *record, struct counters *ret);
void counters_of_plain(const struct plain_record *record, struct counters *ret);

/* Sums over the sources. */
u64 counters_samples(const struct counters *counters);
u64 counters_weight(const struct counters *counters);
u64 counters_latency_sum(const struct counters *counters);
u64 counters_weighted_latency(const struct counters *counters);

/*
 * Samples that have a latency, as counted by the histogram. A sample that is being accounted during the reading
 * may be in the histogram one reading earlier or later than in `samples`.
 */
u64 counters_latency_samples(const struct counters *counters);
u64 counters_instruction_latency_samples(const struct counters *counters);

/*
 * Samples whose address translation needed a page walk: the sum of TLB_WALK, TLB_MISS and TLB_FAULT. The
 * drivers of Intel PEBS and AMD IBS report a walk as TLB_MISS.
 */
u64 counters_tlb_walk(const struct counters *counters);

#endif
