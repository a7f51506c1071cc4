// SPDX-License-Identifier: GPL-2.0
/* What an event counted on one CPU. Pure. */
#ifndef PEBSD_CPU_COUNTS_H
#define PEBSD_CPU_COUNTS_H

#include <stdbool.h>

#include "pebsd/types.h"

struct cpu_counts {
	int cpu;
	bool open;           /* now; else the CPU went, and these are the figures it left */
	bool in_error;       /* open, and not counting: another pinned event holds the counter */
	u64 count;           /* events; while running, short of a part of a period */
	u64 due;             /* samples: whole periods in that, each opening's for itself */
	u64 enabled_ns;      /* time enabled, that in error included */
	u64 running_ns;      /* time on a counter; less than enabled_ns: multiplexed or in error */
	bool throttle_known; /* for all of that time; else the following are of a part of it */
	u64 throttled_ns; /* time in which the kernel had stopped it for coming too often; see perf_ring.h */
	u64 throttles;    /* how often it did */
	u64 paused_ns;    /* time in which it was closed because a pause was asked for */
	u64 rearmed; /* times that it counted on without a next sample, and was given one: perf_stall.h */
	u64 missed;  /* samples that were due in those times; of this process alone */
};

/* sum += addend, as to figures; `throttle_known` where it is in both. The rest of `sum` stays. */
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
