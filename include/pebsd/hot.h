// SPDX-License-Identifier: GPL-2.0
/*
 * Hot tables: which code addresses and which data cache lines a chosen cgroup waits at, in bounded memory.
 * One table for each chosen cgroup, event and CPU; of each kind it has HOT_SETS sets, and an item belongs to
 * one set by its hash. A set is a summary of its part of the stream by the space-saving rule (Metwally,
 * Agrawal, El Abbadi, 2005): an item that is not in it takes over the counter with the least weight, and
 * inherits that as its error.
 *
 * For each item, whatever the stream was:
 *
 *   in the set:      weight - weight_error <= what really came <= weight, and the same of samples
 *   not in the set:  what really came <= passed_weight, passed_samples
 *
 * An item with more than 1/HOT_WAYS of its set's weight is in the set. Of any items, 31 of them above 1/32 of
 * a table's weight, more than HOT_WAYS seldom meet in one of the sets: in one table of a million.
 *
 * BPF writes a table on one CPU alone, the daemon reads it through mmap(2), and clears it when nobody writes.
 */
#ifndef PEBSD_HOT_H
#define PEBSD_HOT_H

#include "types.h"

enum hot_kind { HOT_CODE, HOT_LINES, HOT_KINDS };

#define HOT_WAYS_LOG2 4
#define HOT_WAYS      (1U << HOT_WAYS_LOG2)
#define HOT_SETS_LOG2 3
#define HOT_SETS      (1U << HOT_SETS_LOG2)

/* Of one kind in one table. */
#define HOT_COUNTERS (HOT_WAYS * HOT_SETS)

/* Chosen cgroups at a time, at most. */
#define HOT_MAX 64

/* What a hit writes, but for the weight. */
struct hot_counter {
	u64 item;    /* 0: none, or being written; written last */
	u64 samples; /* and what was inherited */
	u64 hitm;    /* samples of this item, since it is here, that met a modified copy */
	u32 pid;     /* the process (tgid) of the last one; 0: not known */
	u32 turn;    /* grows with each item that had the counter */
};

/* What an item inherited with its counter. */
struct hot_error {
	u64 weight;
	u64 samples;
};

/*
 * By cache lines: a hit meets the first one, one of ranks and one of counters; a miss the other ranks and one
 * of errors besides.
 */
struct hot_set {
	u64 tags[2]; /* the writer's: a byte a way, of even ways in the first and of odd ones in the second */
	u64 weight;  /* of all that came, before it has a counter */
	u64 samples;
	u64 passed_weight; /* no item that had to leave had more */
	u64 passed_samples;
	u32 used; /* counters that have had an item */
	u32 reserved[3];
	u64 ranks[HOT_WAYS]; /* the weight, and below it the way: the least of them tells both */
	struct hot_counter counters[HOT_WAYS];
	struct hot_error errors[HOT_WAYS];
} __attribute__((aligned(64)));

struct hot_sets {
	struct hot_set sets[HOT_SETS];
};

struct hot_table {
	struct hot_sets kinds[HOT_KINDS];
};

_Static_assert(sizeof(struct hot_set) == 960, "whole cache lines");
_Static_assert(sizeof(struct hot_counter) == 32, "within a cache line");
_Static_assert(sizeof(struct hot_table) == 15360, "crosses the kernel boundary");

/* Weights are far below 2^59. */
#define HOT_RANK(weight, way) ((weight) << HOT_WAYS_LOG2 | (way))
#define HOT_RANK_WEIGHT(rank) ((rank) >> HOT_WAYS_LOG2)

#define HOT_LINE_BYTES 64

/* What stands for an address in a table; 0 where there is none: no code and no data lies there. */
static inline u64 hot_code_item(u64 address)
{
	return address;
}

static inline u64 hot_line_item(u64 address)
{
	return address ? (address & ~(u64)(HOT_LINE_BYTES - 1)) | 1 : 0;
}

static inline u64 hot_item_address(enum hot_kind kind, u64 item)
{
	return kind == HOT_LINES ? item & ~(u64)(HOT_LINE_BYTES - 1) : item;
}

/* `seed` is drawn at load, so that nobody can aim at a set. */
static inline u64 hot_hash(u64 item, u64 seed)
{
	u64 hash = (item ^ seed) * 0x9e3779b97f4a7c15ULL;

	return (hash ^ hash >> 32) * (seed | 1);
}

/* The set of an item, the same in each table. */
#define HOT_HASH_SET(hash) ((u32)((hash) >> (64 - HOT_SETS_LOG2)))
#define HOT_HASH_TAG(hash) ((hash) >> 32 & 0xff)

#endif
