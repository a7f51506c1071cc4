// SPDX-License-Identifier: GPL-2.0
/*
 * A latency and a data source for a page fault, which has neither: so that pebsd and its peers account for
 * the same samples on a machine without a PMU. They follow from the fault's address, by a multiplication and
 * a table: the same work for all of them, and no pattern that a branch predictor learns.
 *
 * Mostly caches, some memory near and far, latencies to match: what a loaded server's loads look like.
 */
#ifndef PEBSD_BENCH_SYNTHETIC_H
#define PEBSD_BENCH_SYNTHETIC_H

#include "pebsd/data_source.h"

/* OP_LOAD, the level by its number and bit, its snoop result, as Linux' PEBS driver writes them. */
#define SYNTHETIC_SOURCE(number, level, snoop)                               \
	((u64)OP_LOAD | (u64)(LVL_HIT | (level)) << 5 | (u64)(snoop) << 19 | \
	 (u64)(TLB_BIT_HIT | TLB_BIT_L1 | TLB_BIT_L2) << 26 | (u64)(number) << 33)
#define SYNTHETIC_REMOTE (1ULL << 37)

#define SYNTHETIC_CLASSES 16

struct synthetic_class {
	u32 least;  /* core cycles */
	u32 spread; /* a mask */
	u64 data_source;
};

#define SYNTHETIC_L1                                                       \
	{                                                                  \
		5, 7, SYNTHETIC_SOURCE(LVL_NUM_L1, LVL_L1, SNOOP_BIT_NONE) \
	}
#define SYNTHETIC_L2                                                         \
	{                                                                    \
		14, 15, SYNTHETIC_SOURCE(LVL_NUM_L2, LVL_L2, SNOOP_BIT_NONE) \
	}
#define SYNTHETIC_L3                                                        \
	{                                                                   \
		50, 63, SYNTHETIC_SOURCE(LVL_NUM_L3, LVL_L3, SNOOP_BIT_HIT) \
	}
#define SYNTHETIC_HITM                                                        \
	{                                                                     \
		90, 127, SYNTHETIC_SOURCE(LVL_NUM_L3, LVL_L3, SNOOP_BIT_HITM) \
	}
#define SYNTHETIC_NEAR                                                               \
	{                                                                            \
		200, 511, SYNTHETIC_SOURCE(LVL_NUM_RAM, LVL_LOC_RAM, SNOOP_BIT_MISS) \
	}
#define SYNTHETIC_FAR                                                                              \
	{                                                                                          \
		900, 1023, SYNTHETIC_SOURCE(LVL_NUM_RAM, 0x100, SNOOP_BIT_MISS) | SYNTHETIC_REMOTE \
	}

/* Volatile, or the compiler would decode them where it builds the programs. */
static const volatile struct synthetic_class synthetic_classes[SYNTHETIC_CLASSES] = {
	SYNTHETIC_L1, SYNTHETIC_L1,   SYNTHETIC_L1,   SYNTHETIC_L1,  SYNTHETIC_L1, SYNTHETIC_L1,
	SYNTHETIC_L1, SYNTHETIC_L2,   SYNTHETIC_L2,   SYNTHETIC_L3,  SYNTHETIC_L3, SYNTHETIC_L3,
	SYNTHETIC_L3, SYNTHETIC_HITM, SYNTHETIC_NEAR, SYNTHETIC_FAR,
};

struct synthetic {
	u32 latency; /* core cycles */
	u64 data_source;
};

static inline struct synthetic synthetic_of(u64 address)
{
	u64 hash = (address >> 12) * 0x9e3779b97f4a7c15ULL;
	const volatile struct synthetic_class *class = &synthetic_classes[hash >> 60];

	return (struct synthetic){class->least + ((u32)(hash >> 40) & class->spread), class->data_source};
}

#endif
