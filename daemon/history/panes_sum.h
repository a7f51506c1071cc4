// SPDX-License-Identifier: GPL-2.0
/*
 * Adds up deltas of the same cgroup and event (collect/packed.h). The deltas are copied one behind the
 * other, and each points to the one before of the same chain. Pure.
 */
#ifndef PEBSD_PANES_SUM_H
#define PEBSD_PANES_SUM_H

#include <stddef.h>

#include "collect/packed.h"

/* All zero is empty. Free it with panes_sum_done(). */
struct panes_sum {
	u8 *bytes;
	size_t used, room;
	struct packed_sum counters; /* of one chain; empty between two calls */
};

/* A chain: the position after its last delta; 0: empty. */
typedef u32 panes_chain;

/* The deltas of all chains together may take this much. While they are added up there are two sums. */
#define PANES_SUM_BYTES_MAX (32UL << 20)

/* Appends a delta, above 0 bytes. Returns 0, -ENOMEM or -E2BIG. */
int panes_sum_add(struct panes_sum *sum, panes_chain *chain, const u8 *packed, u32 size);

/*
 * Moves a chain to the end of `to`, as a single delta with the sum. Returns 0, -ENOMEM or -E2BIG; then the
 * chain is unchanged, and `to` can only be freed.
 */
int panes_sum_move(struct panes_sum *from, panes_chain *chain, struct panes_sum *to);

/* The packed counters of a chain that has a single delta, valid until the sum changes. */
const u8 *panes_sum_packed(const struct panes_sum *sum, panes_chain chain, u32 *ret_size);

/* Frees the memory. */
void panes_sum_done(struct panes_sum *sum);

#endif
