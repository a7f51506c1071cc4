// SPDX-License-Identifier: GPL-2.0
/*
 * Hot tables: the code addresses and data cache lines at which a chosen cgroup waits, in bounded memory.
 * There is one table for each chosen cgroup, event and CPU. It has HOT_SETS sets for each kind of item, and
 * the hash of an item selects its set. A set summarizes its part of the stream by the space-saving rule
 * (Metwally, Agrawal, El Abbadi, 2005): an item that is not in the set takes over the counter with the least
 * weight, and inherits that weight as its error.
 *
 * For each item and any stream, with "true" for the item's real numbers in the stream:
 *
 *   in the set:      weight - weight_error <= true weight <= weight, and likewise for samples
 *   not in the set:  true weight <= passed_weight, true samples <= passed_samples
 *
 * An item with more than 1/HOT_WAYS of its set's weight is in the set. Even with 31 items above 1/32 of a
 * table's weight each, more than HOT_WAYS of them share a set in fewer than one of a million tables.
 *
 * BPF writes a table on one CPU only. The daemon reads it through mmap(2), and clears it when nobody writes
 * to it.
 */
#ifndef PEBSD_HOT_H
#define PEBSD_HOT_H

#include "types.h"

enum hot_kind { HOT_CODE, HOT_LINES, HOT_KINDS };

#define HOT_WAYS_LOG2 4
#define HOT_WAYS      (1U << HOT_WAYS_LOG2)
#define HOT_SETS_LOG2 3
#define HOT_SETS      (1U << HOT_SETS_LOG2)

/* Counters for one kind in one table. */
#define HOT_COUNTERS (HOT_WAYS * HOT_SETS)

/* Maximum number of cgroups chosen at the same time. */
#define HOT_MAX 64

/* The counter of one way, except its weight, which is in hot_set.ranks. */
struct hot_counter {
	u64 item;    /* 0: unused, or being written; written last */
	u64 samples; /* includes the samples that the item inherited */
	u64 hitm;    /* HITM samples since this item took over the counter; nothing is inherited */
	u32 pid;     /* process (tgid) of the last sample; 0: not known */
	u32 turn;    /* incremented with each item that gets the counter */
};

/* The values that an item inherited when it took over the counter. */
struct hot_error {
	u64 weight;
	u64 samples;
};

/*
 * The layout follows cache lines. A hit touches the first line, one line of ranks and one of counters. A miss
 * touches the other line of ranks and one of errors as well.
 */
struct hot_set {
	u64 tags[2]; /* for the writer: a byte per way, even ways in the first word, odd ones in the second */
	u64 weight;  /* weight of all samples, including those of replaced items */
	u64 samples;
	u64 passed_weight; /* no replaced item had more weight than this */
	u64 passed_samples;
	u32 used; /* counters that have had an item */
	u32 reserved[3];
	u64 ranks[HOT_WAYS]; /* weight, and the way in the low bits: the smallest rank gives both */
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

/* A weight must be below 2^59: bpf/hot_write.h compares ranks below 2^63. Real weights are far below that. */
#define HOT_RANK(weight, way) ((weight) << HOT_WAYS_LOG2 | (way))
#define HOT_RANK_WEIGHT(rank) ((rank) >> HOT_WAYS_LOG2)

#define HOT_LINE_BYTES 64

/* The item that stands for an address in a table. 0 means no item: neither code nor data lies at address 0. */
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

/* `seed` is drawn at load, so that nobody can choose items that all fall into one set. */
static inline u64 hot_hash(u64 item, u64 seed)
{
	u64 hash = (item ^ seed) * 0x9e3779b97f4a7c15ULL;

	return (hash ^ hash >> 32) * (seed | 1);
}

/* The set of an item. It is the same in every table. */
#define HOT_HASH_SET(hash) ((u32)((hash) >> (64 - HOT_SETS_LOG2)))
#define HOT_HASH_TAG(hash) ((hash) >> 32 & 0xff)

#endif
