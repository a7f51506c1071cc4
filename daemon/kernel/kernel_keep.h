// SPDX-License-Identifier: GPL-2.0
/*
 * Maps and links of the kernel side that outlive the process, in the service manager's store: found and taken
 * over at a start, or made and put there (store/handover.h).
 */
#ifndef PEBSD_KERNEL_KEEP_H
#define PEBSD_KERNEL_KEEP_H

#include "kernel/kept.h"
#include "kernel/kernel_parts.h"

#define KEEP_MAPS_MAX  16
#define KEEP_LINKS_MAX 4

struct kernel_kept_part {
	char label[STORED_LABEL_MAX];
	u32 number; /* of its name; 0: there is none */
};

/* The part HANDOVER_KERNEL. */
struct kernel_book {
	struct kept_identity identity;
	u32 epoch; /* of the programs: grows as they are replaced */
	u32 stripes_alone;
	u64 hot_seed;
	struct kernel_kept_part maps[KEEP_MAPS_MAX];
	struct kernel_kept_part links[KEEP_LINKS_MAX];
	u32 n_blocks;
	u32 blocks[SLOT_BLOCKS_MAX][BLOCK_KINDS]; /* numbers of their maps' names */
};

struct kernel_books {
	u32 current;
	u32 reserved;
	struct kernel_book copies[2];
};

/* The book of the process before; NULL: there is none. The books'. */
const struct kernel_book *kernel_keep_before(const struct handover *handover);

/*
 * Once the skeleton is configured, before it is loaded: has it take over the maps of before where they fit, and
 * their blocks.
 * Sets `kernel->kept`. 0; -ESTALE, and the log says why: they do not fit, or some is missing or not what its
 * name says: the skeleton can only be closed, for another that takes nothing over; -errno.
 */
int kernel_keep_maps(struct kernel *kernel);

/* After the load, maps mapped: which programs they are, and what hot tables were chosen by the process
 * before. */
int kernel_keep_loaded(struct kernel *kernel);

/* After kernel_keep_done(): stores the blocks from `first` on, and has the next process know them. 0, also where
 * nothing is kept, or -errno. */
int kernel_keep_blocks(struct kernel *kernel, u32 first);

/* Attaches a tracing program where the link of before is not gone on with. 0 or -errno. */
int kernel_keep_link(struct kernel *kernel, struct bpf_program *program, struct bpf_link **ret);

/*
 * The last step: all that was made is stored, and the books have it; what it took the place of, or what is
 * not gone on with, is removed. Not before: a start that fails until then leaves all to the next. 0 or
 * -errno.
 */
int kernel_keep_done(struct kernel *kernel);

#endif
