// SPDX-License-Identifier: GPL-2.0
/*
 * The blocks that hold the records and owners of slots (records.h): their sizes, and the maps of each block.
 * Blocks are added during sampling, and are never removed.
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

/* Maps `bytes` of a BPF map into memory, in whole pages. `protection`: PROT_*. Returns 0 or -errno. */
int kernel_map_memory(int map_fd, size_t bytes, int protection, struct mapping *ret);

/*
 * Makes zeroed memory that no map has, for accounting in this process. It is shared memory, so that it counts as
 * maps do: not as the process's own (own_memory.h). Returns 0 or -errno.
 */
int kernel_in_process_memory(size_t bytes, struct mapping *ret);

/* Unmaps the memory, unless it is NULL. */
void kernel_unmap(struct mapping *mapping);

struct kernel_block {
	int fds[BLOCK_KINDS]; /* -1: no map of that kind */
	struct mapping maps[BLOCK_KINDS];
	u32 numbers[BLOCK_KINDS]; /* numbers in the names of the stored descriptors; 0: not stored */
};

struct kernel_blocks {
	u32 slots;                 /* in each block */
	u32 log2;                  /* slot >> log2 is the index of the slot's block */
	u32 max;                   /* maximum number of blocks */
	u32 n;                     /* blocks that exist */
	bool in_process;           /* blocks are memory of this process, without maps */
	u64 entries[BLOCK_KINDS];  /* of each map in a block; 0: blocks have no map of that kind */
	struct kernel_block *list; /* `max` entries, `n` of them valid */
};

/* The inputs that decide the size of a block's maps. */
struct kernel_blocks_case {
	u32 slots_max;   /* maximum number of slots */
	bool grows;      /* true: blocks of SLOT_BLOCK slots; false: one block holds all slots */
	bool in_process; /* as in struct kernel_blocks */
	u32 stripes;
	u32 with_latency, without; /* number of events */
	u32 offcore_cpus;
};

/*
 * Computes the sizes and leaves `list` without blocks. Returns 0, -E2BIG if a map of one block would have too
 * many entries, or -ENOMEM.
 */
int kernel_blocks_plan(const struct kernel_blocks_case *wanted, struct kernel_blocks *ret);
void kernel_blocks_done(struct kernel_blocks *blocks);

/* The name of the maps of a kind, in the kernel and in the store. */
const char *kernel_block_label(enum slot_block_kind kind);

/*
 * Makes the maps of a block, zeroed, and maps them into memory. With `in_process`, makes only the memory. Programs do
 * not find the block yet. Returns 0, or -errno with nothing made.
 */
int kernel_block_make(const struct kernel_blocks *blocks, struct kernel_block *ret);

/*
 * Maps an existing block into memory. `fds` are the descriptors of its maps; on success the block owns them,
 * on failure the caller still does. -ESTALE: a descriptor is not the expected map.
 */
int kernel_block_take(const struct kernel_blocks *blocks, const int fds[BLOCK_KINDS],
		      struct kernel_block *ret);
void kernel_block_done(struct kernel_block *block);

/*
 * Makes a map with one entry. The kernel creates an outer map only with an example of its inner maps, even if
 * blocks have no map of this kind. Returns a descriptor or -errno.
 */
int kernel_block_example(enum slot_block_kind kind);

/*
 * Enters the blocks from `first` up to, but not including, `end` into the outer maps of each kind. From then
 * on programs find them. Returns 0 or -errno. After a failure some blocks may be entered, which does no harm.
 */
int kernel_blocks_enter(const struct kernel_blocks *blocks, const int outer[BLOCK_KINDS], u32 first, u32 end);

static inline void *kernel_blocks_memory(const struct kernel_blocks *blocks, enum slot_block_kind kind,
					 u32 slot)
{
	return blocks->list[slot >> blocks->log2].maps[kind].memory;
}

/* The index of a slot within its block. */
static inline u32 kernel_slot_in_block(const struct kernel_blocks *blocks, u32 slot)
{
	return slot & ((1U << blocks->log2) - 1);
}

#endif
