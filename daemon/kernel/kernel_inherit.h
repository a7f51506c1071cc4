// SPDX-License-Identifier: GPL-2.0
/*
 * Maps and links of the BPF side that outlive the process in the service manager's file descriptor store. At
 * a start, pebsd finds them in the store and takes them over, or makes and stores new ones
 * (store/handover.h).
 */
#ifndef PEBSD_KERNEL_INHERIT_H
#define PEBSD_KERNEL_INHERIT_H

#include "kernel/inherited.h"
#include "kernel/kernel_internal.h"

#define INHERIT_MAPS_MAX  16
#define INHERIT_LINKS_MAX 4

struct kernel_saved_part {
	char label[STORED_LABEL_MAX];
	u32 number; /* number in the name of the stored descriptor; 0: not stored */
};

/* The data of one process. The part HANDOVER_KERNEL has two copies (struct kernel_saved_copies). */
struct kernel_saved {
	struct inherited_identity identity;
	u32 epoch; /* of the programs: grows each time they are replaced */
	u32 stripes_alone;
	u64 hot_seed;
	struct kernel_saved_part maps[INHERIT_MAPS_MAX];
	struct kernel_saved_part links[INHERIT_LINKS_MAX];
	u32 n_blocks;
	u32 blocks[SLOT_BLOCKS_MAX][BLOCK_KINDS]; /* numbers in the names of the maps of each block */
};

struct kernel_saved_copies {
	u32 current;
	u32 reserved;
	struct kernel_saved copies[2];
};

/* Returns the data that the previous process saved, or NULL. The memory belongs to the handover. */
const struct kernel_saved *kernel_saved_before(const struct handover *handover);

/*
 * Call this after the skeleton is configured and before it is loaded. It makes the skeleton reuse the maps
 * and blocks of the previous process, if they fit, and sets `kernel->inherited`. Returns 0 or -errno. -ESTALE
 * means that the maps do not fit, or that a map is missing or is not the one that its name says; the log has
 * the reason. The caller can then only close this skeleton and open another one that takes nothing over.
 */
int kernel_inherit_maps(struct kernel *kernel);

/*
 * Call this after the programs are loaded and the maps are mapped. It compares the programs with those of the
 * previous process, and discards the hot tables that the previous process had chosen. Returns 0 or -errno.
 */
int kernel_inherit_programs(struct kernel *kernel);

/*
 * Call this after kernel_inherit_done(). It stores the blocks from `first` on, so that the next process finds
 * them. Does nothing without a store. Returns 0 or -errno; after an error, none of these blocks is stored.
 */
int kernel_save_blocks(struct kernel *kernel, u32 first);

/* Undoes kernel_save_blocks() for the blocks from `n` on: the next process does not get them. */
void kernel_save_fewer_blocks(struct kernel *kernel, u32 n);

/* Attaches a tracing program, unless the link of the previous process remains in use. Returns 0 or -errno. */
int kernel_inherit_link(struct kernel *kernel, struct bpf_program *program, struct bpf_link **ret);

/*
 * The last step of a start: stores the maps and links that this start made, records them in the handover, and
 * removes the inherited maps and links that were replaced or are not used. Nothing is removed earlier, so a
 * start that fails before this step leaves everything to the next start. Returns 0 or -errno.
 */
int kernel_inherit_done(struct kernel *kernel);

#endif
