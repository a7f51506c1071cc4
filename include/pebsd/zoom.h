// SPDX-License-Identifier: GPL-2.0
/* Definitions shared by a zoom's limiter (bpf/zoom.bpf.c) and the daemon. */
#ifndef PEBSD_ZOOM_H
#define PEBSD_ZOOM_H

#include "types.h"

/* One per CPU, in a cache line of its own. */
struct zoom_tally {
	u64 seen;    /* samples of the event, without samples of other operations */
	u64 limited; /* samples over the limit, which were dropped; `seen` includes them */
	u64 unused[6];
};

_Static_assert(sizeof(struct zoom_tally) == 64, "one cache line, and what crosses the kernel boundary");

/* The time by which a burst may run ahead of an even pace. */
#define ZOOM_BURST_NS 10000000ULL

#endif
