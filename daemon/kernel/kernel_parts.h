// SPDX-License-Identifier: GPL-2.0
/* What opening (kernel_open.c) and use (kernel.c) of the kernel side share. */
#ifndef PEBSD_KERNEL_PARTS_H
#define PEBSD_KERNEL_PARTS_H

#include "kernel/kernel.h"
#include "kernel/kernel_blocks.h"
#include "kernel/map_size.h"
#include "pebsd.skel.h"
#include "store/handover.h"

/* A program on a tracepoint, that is stored or to be. */
struct kernel_link {
	char label[STORED_LABEL_MAX];
	int fd;     /* its own where `taken`, else the skeleton's */
	bool taken; /* from the process before */
};

/* Each of these from the process before, and in its place. */
#define KERNEL_LINKS_MAX 8

struct kernel {
	struct kernel_settings settings;
	struct pebsd_bpf *skeleton;
	struct kernel_blocks blocks;
	u32 slots_max;             /* that there can be */
	int examples[BLOCK_KINDS]; /* while outer maps are made; -1: none */
	struct mapping injected;
	int hot_example; /* a map of hot tables, until the programs are loaded; negative: none */
	struct mapping hot_tables[HOT_MAX]; /* by choice; no memory: not made yet */
	struct mapping marks;
	struct mapping cpu_states;
	u32 stripes;
	u32 cpus; /* possible ones, as the kernel numbers them */
	u64 start_peak;
	u32 hot_max;
	u32 hot_cpus;
	struct kernel_offcore *offcore; /* NULL: off */
	struct ring_buffer *short_of;   /* NULL: without births */
	struct handover *handover;      /* NULL: nothing is kept */
	enum kept kept;
	struct kernel_book *book; /* as it is to be */
	size_t n_links;
	struct kernel_link links[KERNEL_LINKS_MAX];
};

/* Makes the map of a choice's hot tables, which are clear. A descriptor, or -errno. */
int kernel_make_hot(const struct kernel *kernel);

/* What decides about the memory of the maps, but for `slots` and `slots_max`; with hot tables for as many cgroups
 * as may have some. */
struct map_size_case kernel_map_case(const struct kernel *kernel);

/* The maps that blocks are entered into, by kind; -1: none. */
void kernel_outer_maps(const struct kernel *kernel, int ret[BLOCK_KINDS]);

/* Has the programs find all blocks of `kernel->blocks` from `first` on, and hand out their slots. 0 or -errno. */
int kernel_enter_blocks(struct kernel *kernel, u32 first);

#endif
