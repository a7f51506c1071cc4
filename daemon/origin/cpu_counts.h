// SPDX-License-Identifier: GPL-2.0
/* The counts of one event on one CPU. Pure functions. */
#ifndef PEBSD_CPU_COUNTS_H
#define PEBSD_CPU_COUNTS_H

#include <stdbool.h>

#include "pebsd/types.h"

struct cpu_counts {
	int cpu;
	bool open;           /* open now; if not, the CPU went offline and these are its last counts */
	bool in_error;       /* open but not counting: another pinned event holds the counter */
	u64 count;           /* events; excludes the unfinished period while the event runs */
	u64 due;             /* expected samples: the whole periods in `count`, summed over all openings */
	u64 enabled_ns;      /* time enabled, including the time in error */
	u64 running_ns;      /* time on a counter; less than enabled_ns if multiplexed or in error */
	bool throttle_known; /* false: throttled_ns and throttles cover only a part of the time */
	u64 throttled_ns;    /* time that the kernel kept the event throttled; see perf_ring.h */
	u64 throttles;       /* how often the kernel throttled the event */
	u64 paused_ns;       /* time that the event was closed because of a requested pause */
	u64 rearmed; /* how often it was rearmed because it no longer produced samples: perf_stall.h */
	u64 missed;  /* samples expected while it was stalled; of this process only */
};

/*
 * Adds the counts of `addend` to `sum`. Sets `throttle_known` only if both have it. Other members stay
 * unchanged.
 */
static inline void cpu_counts_add(struct cpu_counts *sum, const struct cpu_counts *addend)
{
	sum->count += addend->count;
	sum->due += addend->due;
	sum->enabled_ns += addend->enabled_ns;
	sum->running_ns += addend->running_ns;
	sum->throttle_known = sum->throttle_known && addend->throttle_known;
	sum->throttled_ns += addend->throttled_ns;
	sum->throttles += addend->throttles;
	sum->paused_ns += addend->paused_ns;
	sum->rearmed += addend->rearmed;
	sum->missed += addend->missed;
}

#endif
