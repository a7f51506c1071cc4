// SPDX-License-Identifier: GPL-2.0
/* The stacks of a profile one after the other, in an order that does not depend on that of the samples. */
#ifndef PEBSD_PROFILE_WALK_H
#define PEBSD_PROFILE_WALK_H

#include "profile/profile_parts.h"

/* Nodes from the innermost outwards, without the root. */
struct walk {
	const struct profile *profile;
	bool kernel_names;
	u32 at;
	bool some; /* there was a frame; without kernel names the kernel's, which come first, are done */
};

struct walk walk_begin(const struct profile *profile, u32 node, bool kernel_names);

/*
 * The next node and its frames, innermost first: never none. Without kernel names all frames of the kernel
 * are one frame "[kernel]". False at the end; a stack without any node is one FRAME_UNKNOWN, with
 * `*ret_node` NULL.
 */
bool walk_next(struct walk *walk, const struct node **ret_node, const u32 **ret_frames, size_t *ret_n);

/*
 * What there is of samples, one for each process, stack, thread name and source, in this order; `thread` is
 * a string, or NONE. The caller frees. 0 or -ENOMEM.
 */
int walk_cells(const struct profile *profile, struct cell **ret, size_t *ret_n);

#endif
