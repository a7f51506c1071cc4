// SPDX-License-Identifier: GPL-2.0
/*
 * The blocks that records and owners of slots lie in (records.h): how large they are, and the maps of each.
 * Blocks are added while samples come, and none is ever taken away.
 */
#ifndef PEBSD_KERNEL_BLOCKS_H
#define PEBSD_KERNEL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/offcore.h"
#include "pebsd/records.h"

struct mapping {
	void *memory;
	size_t bytes;
};

/* Maps `bytes` of a map, in whole pages; `protection`: PROT_*. 0 or -errno. */
int kernel_map_memory(int map_fd, size_t bytes, int protection, struct mapping *ret);

struct kernel_block {
	int fds[BLOCK_KINDS]; /* -1: none of that kind */
	struct mapping maps[BLOCK_KINDS];
	u32 numbers[BLOCK_KINDS]; /* of the descriptors in the store; 0: not stored */
};

struct kernel_blocks {
	u32 slots;                 /* of a block */
	u32 log2;                  /* a slot's block is its number shifted by this */
	u32 max;                   /* blocks that there can be */
	u32 n;                     /* that there are */
	u64 entries[BLOCK_KINDS];  /* of a block's map; 0: no block has one of that kind */
	struct kernel_block *list; /* `max` of them */
};

/* What decides about the size of a block's maps. */
struct kernel_blocks_case {
	u32 slots_max; /* as many as there can ever be */
	bool grows;    /* in whole blocks of SLOT_BLOCK; else there is one block of them all */
	u32 stripes;
	u32 with_latency, without; /* events */
	u32 offcore_cpus;
};

/* Sizes only; `list` is empty. 0; -E2BIG: a map of one block would have too many entries; -ENOMEM. */
int kernel_blocks_plan(const struct kernel_blocks_case *wanted, struct kernel_blocks *ret);
void kernel_blocks_done(struct kernel_blocks *blocks);

/* The name of the kind's maps, in the kernel and in the store. */
const char *kernel_block_label(enum slot_block_kind kind);

/* Makes and maps a block, zeroed, which nobody finds yet. 0 or -errno, with nothing made. */
int kernel_block_make(const struct kernel_blocks *blocks, struct kernel_block *ret);

/* The same of one that is there: `fds`, which the block then owns, are its maps. -ESTALE: some is not. On
 * failure they stay the caller's. */
int kernel_block_take(const struct kernel_blocks *blocks, const int fds[BLOCK_KINDS],
		      struct kernel_block *ret);
void kernel_block_done(struct kernel_block *block);

/* A map of a kind with no more than one entry, for the outer map of a kind that no block has. A descriptor. */
int kernel_block_example(enum slot_block_kind kind);

/* Enters the blocks from `first` up to `end` into the outer maps of each kind: programs find them from then on.
 * 0 or -errno: then some may be entered, which is no harm. */
int kernel_blocks_enter(const struct kernel_blocks *blocks, const int outer[BLOCK_KINDS], u32 first, u32 end);

static inline void *kernel_blocks_memory(const struct kernel_blocks *blocks, enum slot_block_kind kind,
					 u32 slot)
{
	return blocks->list[slot >> blocks->log2].maps[kind].memory;
}

/* The number of a slot in its block. */
static inline u32 kernel_blocks_place(const struct kernel_blocks *blocks, u32 slot)
{
	return slot & ((1U << blocks->log2) - 1);
}

#endif
