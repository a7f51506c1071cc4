// SPDX-License-Identifier: GPL-2.0
/*
 * A latency and a data source for a page fault, which has neither. With them pebsd and its peers account the
 * same samples on a machine without a PMU. Both are derived from the fault's address with a multiplication
 * and one cache line. The work is the same for all programs, and a branch predictor cannot learn a pattern.
 *
 * The classes resemble the loads of a busy server: caches, near and remote memory, and matching latencies.
 */
#ifndef PEBSD_BENCH_SYNTHETIC_H
#define PEBSD_BENCH_SYNTHETIC_H

#include "pebsd/data_source.h"

/*
 * A class of samples in one word: OP_LOAD, the level as number and bits, the snoop and the TLB result, as
 * Linux' PEBS driver writes them. Above these, in bits that a data source does not use, are the minimum
 * latency in core cycles, and the number of random bits that are added to it.
 */
#define SYNTHETIC_CLASS(number, levels, snoop, remote, least, more)                                       \
	((u64)OP_LOAD | (u64)(LVL_HIT | (levels)) << 5 | (u64)(snoop) << 19 |                             \
	 (u64)(TLB_BIT_HIT | TLB_BIT_L1 | TLB_BIT_L2) << 26 | (u64)(number) << 33 | (u64)(remote) << 37 | \
	 (u64)(least) << SYNTHETIC_LEAST | (u64)(more) << SYNTHETIC_MORE)
#define SYNTHETIC_LEAST       46
#define SYNTHETIC_MORE        60
#define SYNTHETIC_SOURCE_MASK ((1ULL << SYNTHETIC_LEAST) - 1)

#define SYNTHETIC_CLASSES_LOG2 3

/* Volatile, or the compiler would decode them at build time. */
static const volatile u64 synthetic_classes[1 << SYNTHETIC_CLASSES_LOG2] __attribute__((aligned(64))) = {
	SYNTHETIC_CLASS(LVL_NUM_L1, LVL_L1, SNOOP_BIT_NONE, 0, 5, 3),
	SYNTHETIC_CLASS(LVL_NUM_L1, LVL_L1, SNOOP_BIT_NONE, 0, 5, 3),
	SYNTHETIC_CLASS(LVL_NUM_L1, LVL_L1, SNOOP_BIT_NONE, 0, 5, 3),
	SYNTHETIC_CLASS(LVL_NUM_L2, LVL_L2, SNOOP_BIT_NONE, 0, 14, 4),
	SYNTHETIC_CLASS(LVL_NUM_L3, LVL_L3, SNOOP_BIT_HIT, 0, 50, 6),
	SYNTHETIC_CLASS(LVL_NUM_L3, LVL_L3, SNOOP_BIT_HITM, 0, 90, 7),
	SYNTHETIC_CLASS(LVL_NUM_RAM, LVL_LOC_RAM, SNOOP_BIT_MISS, 0, 200, 9),
	SYNTHETIC_CLASS(LVL_NUM_RAM, 0x100, SNOOP_BIT_MISS, 1, 900, 10),
};

struct synthetic {
	u32 latency; /* core cycles */
	u64 data_source;
};

static inline struct synthetic synthetic_of(u64 address)
{
	u64 hash = (address >> 12) * 0x9e3779b97f4a7c15ULL;
	u64 class = synthetic_classes[hash >> (64 - SYNTHETIC_CLASSES_LOG2)];
	u32 least = (u32)(class >> SYNTHETIC_LEAST) & ((1U << (SYNTHETIC_MORE - SYNTHETIC_LEAST)) - 1);
	u32 more = (u32)(hash >> 32) & ((1U << (class >> SYNTHETIC_MORE)) - 1);

	return (struct synthetic){least + more, class & SYNTHETIC_SOURCE_MASK};
}

#endif
