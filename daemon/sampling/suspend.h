// SPDX-License-Identifier: GPL-2.0
/*
 * Detects whether the machine was suspended since the last look. A PMU loses its registers then. Linux
 * restores them on the CPUs that it takes offline for the suspend, but not on the CPU that it suspends on
 * (arch/x86/power/cpu.c restores the address of the DS area, but no counter). Events stand still there, and
 * nothing distinguishes an event that stands still from one that has nothing to count.
 */
#ifndef PEBSD_SUSPEND_H
#define PEBSD_SUSPEND_H

#include <stdbool.h>

#include "pebsd/types.h"

/* {0}: no look yet. */
struct suspend {
	bool known;
	u64 boottime_ns, monotonic_ns; /* at the last look */
};

/*
 * Returns the time for which the machine was suspended: the time by which CLOCK_BOOTTIME advanced more than
 * CLOCK_MONOTONIC. 0: it was not suspended, or this is the first look. Pure: no system call.
 */
u64 suspend_judge(struct suspend *suspend, u64 boottime_ns, u64 monotonic_ns);

/* Does the same with the present times. */
u64 suspend_look(struct suspend *suspend);

#endif
