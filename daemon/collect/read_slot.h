// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a slot through the mapping: its stripes summed, and what came since the last reading. No system
 * call.
 */
#ifndef PEBSD_READ_SLOT_H
#define PEBSD_READ_SLOT_H

#include "collect/figures.h"
#include "kernel/kernel.h"

/* What one slot and event had when it was last read: the stripes' sum, all zero before the first reading. */
struct slot_base {
	struct latency_record *latency; /* of an event with latency; NULL: zero */
	struct sample_counts *plain;    /* of one without */
};

void slot_base_free(struct slot_base *base);

/*
 * The difference since the last reading, which `base` holds and takes over. A record whose samples did not
 * move is left after its first cache lines; what a sample in flight has half added comes with the next
 * reading. Returns 1 if a sample came, 0 if none, -ENOMEM with nothing taken.
 */
int read_slot(const struct kernel *kernel, unsigned event, u32 slot, struct slot_base *base,
	      struct figures *ret);

#endif
