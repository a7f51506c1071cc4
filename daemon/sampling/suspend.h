// SPDX-License-Identifier: GPL-2.0
/*
 * Whether the machine was suspended since the last look. A PMU loses its registers then, and Linux gives
 * them back to the CPUs that it takes down for that alone, not to the one that it suspends on
 * (arch/x86/power/cpu.c restores the address of the DS area, no counter): events stand still there, and
 * nothing tells an event that stands still from one that has nothing to count.
 */
#ifndef PEBSD_SUSPEND_H
#define PEBSD_SUSPEND_H

#include <stdbool.h>

#include "pebsd/types.h"

/* {0}: never looked. */
struct suspend {
	bool known;
	u64 boottime_ns, monotonic_ns; /* as of the last look */
};

/* How long it was suspended: by so much CLOCK_BOOTTIME went on further than CLOCK_MONOTONIC. 0: it was not,
 * or this is the first look. Pure. */
u64 suspend_judge(struct suspend *suspend, u64 boottime_ns, u64 monotonic_ns);

/* The same at this moment. */
u64 suspend_look(struct suspend *suspend);

#endif
