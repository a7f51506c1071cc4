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
	u32 *stripes;                   /* samples by stripe, modulo 2^32; NULL: zero */
};

void slot_base_free(struct slot_base *base);

/*
 * Whether a sample came since the last reading: the first cache lines of each stripe's record tell. What a
 * sample in flight has half added comes with the next reading.
 */
bool read_slot_moved(const struct kernel *kernel, unsigned event, u32 slot, const struct slot_base *base);

/*
 * The difference since the last reading, which `base` holds and takes over; its samples are added to those of
 * their stripes. 0, or -ENOMEM with nothing taken.
 */
int read_slot(const struct kernel *kernel, unsigned event, u32 slot, struct slot_base *base,
	      struct figures *ret, u64 by_stripe[STRIPES_MAX]);

#endif
