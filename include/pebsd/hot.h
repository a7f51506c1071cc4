// SPDX-License-Identifier: GPL-2.0
/*
 * Hot tables: which items (code addresses) of which owners (a cgroup's slot, for one event) came most often,
 * in bounded memory. One table a CPU; a table is HOT_SETS sets, and an item belongs to one set by its hash.
 * A set is a summary of its part of the stream by the space-saving rule (Metwally, Agrawal, El Abbadi, 2005):
 * an item that is not in it takes over the cell with the least count, and inherits that as its error.
 *
 * For each item of an owner that still is one, whatever the stream was:
 *
 *   in the set:      count - error <= what really came <= count
 *   not in the set:  what really came <= passed
 *
 * BPF writes a table on one CPU alone, the daemon reads it through mmap(2); nothing resets it.
 */
#ifndef PEBSD_HOT_H
#define PEBSD_HOT_H

#include "types.h"

#define HOT_WAYS      7
#define HOT_SETS_LOG2 9
#define HOT_SETS      (1U << HOT_SETS_LOG2)

struct hot_cell {
	u64 owner; /* hot_owner(), 0: empty or being written; written last */
	u64 item;
	u64 count; /* sum of the weights, and what was inherited */
	u64 error; /* what was inherited */
};

struct hot_set {
	u64 passed; /* no item that had to leave had a higher count */
	u32 hand;   /* the cell to be looked at next for an owner that is gone */
	u32 reserved[5];
	struct hot_cell cells[HOT_WAYS];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct hot_set) == 256, "four cache lines");

/* Bytes of one CPU's table. */
#define HOT_TABLE_BYTES (HOT_SETS * sizeof(struct hot_set))

/* Never 0: a slot's generation is at least 1 once it has an owner. */
static inline u64 hot_owner(u32 slot, u32 generation, u32 event)
{
	return (u64)generation << 32 | (event & 0xffff) << 16 | (slot & 0xffff);
}

#define HOT_OWNER_SLOT(owner)       ((u32)(owner)&0xffff)
#define HOT_OWNER_EVENT(owner)      ((u32)(owner) >> 16)
#define HOT_OWNER_GENERATION(owner) ((u32)((owner) >> 32))

/* The set of an item, the same in each table. `seed` is drawn at load, so that nobody can aim at a set. */
static inline u32 hot_set_of(u64 owner, u64 item, u64 seed)
{
	u64 hash = (item ^ seed) * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ hash >> 32 ^ owner) * (seed | 1);
	hash = (hash ^ hash >> 29) * 0xd6e8feb86659fd93ULL;
	return (u32)(hash >> (64 - HOT_SETS_LOG2));
}

#endif
