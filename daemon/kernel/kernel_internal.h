// SPDX-License-Identifier: GPL-2.0
/*
 * Shared by the code that opens the BPF side (kernel_open.c), takes over and stores maps (kernel_inherit.c), and
 * uses the BPF side (kernel.c).
 */
#ifndef PEBSD_KERNEL_INTERNAL_H
#define PEBSD_KERNEL_INTERNAL_H

#include "base/number_map.h"
#include "kernel/kernel.h"
#include "kernel/kernel_blocks.h"
#include "kernel/map_size.h"
#include "pebsd.skel.h"
#include "store/handover.h"

/* The link of a program on a tracepoint, which is in the store or will be put there. */
struct kernel_link {
	char label[STORED_LABEL_MAX];
	int fd;     /* owned by this struct if `taken`, else by the skeleton */
	bool taken; /* inherited from the previous process */
};

/* Room for INHERIT_LINKS_MAX inherited links and as many that replace them. */
#define KERNEL_LINKS_MAX 8

struct kernel {
	struct kernel_settings settings;
	/* Opened, and loaded only if BPF accounts: otherwise its variables are plain memory. */
	struct pebsd_bpf *skeleton;
	bool in_process;         /* account in this process (kernel_in_process.h) */
	struct number_map index; /* the slot of each cgroup, if `in_process` */
	struct kernel_blocks blocks;
	u32 slots_max;             /* maximum number of slots */
	int examples[BLOCK_KINDS]; /* examples of inner maps, to create the outer maps; -1: none */
	struct mapping injected;
	int hot_example;                    /* example of an inner map, for loading; negative: none */
	struct mapping hot_tables[HOT_MAX]; /* index: choice; `memory` is NULL until the tables are made */
	struct mapping dirty;
	struct mapping cpu_states;
	u32 stripes;
	u32 cpus; /* possible CPUs: the highest number + 1 */
	u64 start_peak;
	u32 hot_max;
	u32 hot_cpus;
	struct kernel_offcore *offcore; /* NULL: off */
	struct ring_buffer *short_of;   /* NULL: without `births` */
	struct handover *handover;      /* NULL: nothing is stored */
	enum inherited inherited;
	struct kernel_saved *saved; /* data to be saved for the next process */
	size_t n_links;
	struct kernel_link links[KERNEL_LINKS_MAX];
};

static inline size_t kernel_record_index(const struct kernel *kernel, unsigned event, u32 stripe, u32 slot)
{
	return (size_t)kernel->settings.events[event].first_record + (size_t)stripe * kernel->blocks.slots +
	       kernel_slot_in_block(&kernel->blocks, slot);
}

/* The records of kernel_latency_record() and kernel_plain_record(), to be written. */
static inline struct latency_record *kernel_writable_latency(const struct kernel *kernel, unsigned event,
							     u32 stripe, u32 slot)
{
	struct latency_record *records = kernel_blocks_memory(&kernel->blocks, BLOCK_LATENCY, slot);

	return records + kernel_record_index(kernel, event, stripe, slot);
}

static inline struct plain_record *kernel_writable_plain(const struct kernel *kernel, unsigned event,
							 u32 stripe, u32 slot)
{
	struct plain_record *records = kernel_blocks_memory(&kernel->blocks, BLOCK_PLAIN, slot);

	return records + kernel_record_index(kernel, event, stripe, slot);
}

/* Row `row` of the dirty bytes (records.h). */
static inline u8 *kernel_dirty_row(const struct kernel *kernel, size_t row)
{
	return (u8 *)kernel->dirty.memory + row * dirty_row(kernel->slots_max);
}

/* Makes the map with the hot tables of one choice, cleared. Returns a descriptor or -errno. */
int kernel_make_hot(const struct kernel *kernel);

/*
 * Returns the inputs of map_size(), except for `slots` and `slots_max`, with hot tables for the maximum
 * number of cgroups.
 */
struct map_size_case kernel_map_case(const struct kernel *kernel);

/*
 * Makes the programs find all blocks of `kernel->blocks` from `first` on, and hand out their slots. Returns 0
 * or -errno.
 */
int kernel_enter_blocks(struct kernel *kernel, u32 first);

#endif
