// SPDX-License-Identifier: GPL-2.0
/* Walks the stacks of a profile in an order that does not depend on the order of the samples. */
#ifndef PEBSD_PROFILE_WALK_H
#define PEBSD_PROFILE_WALK_H

#include "profile/profile_internal.h"

/* A walk from the innermost node outwards, without the root. */
struct walk {
	const struct profile *profile;
	bool kernel_names;
	u32 at;
	bool returned_any; /* a frame was returned; without kernel names, skip further kernel frames */
};

struct walk walk_begin(const struct profile *profile, u32 node, bool kernel_names);

/*
 * Returns the next node and its frames, innermost first: always at least one. Without kernel names, all
 * kernel frames together become one frame "[kernel]". Returns false at the end. A stack without nodes yields
 * one FRAME_UNKNOWN, with `*ret_node` NULL.
 */
bool walk_next(struct walk *walk, const struct node **ret_node, const u32 **ret_frames, size_t *ret_n);

/*
 * Returns a sorted copy of the cells: one for each process, stack, thread name and source, in this order.
 * `thread` is a string or NONE. The caller frees `*ret`. Returns 0 or -ENOMEM.
 */
int walk_cells(const struct profile *profile, struct cell **ret, size_t *ret_n);

#endif
