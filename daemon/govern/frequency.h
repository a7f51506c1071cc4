// SPDX-License-Identifier: GPL-2.0
/*
 * The frequency at which CPUs run: their cycles over the time in which they were busy. Pure functions.
 *
 * A halted CPU has no cycles, and an event of cycles excludes guests, so idle time and the time of guests do not
 * count as busy. Busy time is the elapsed time without these, because Linux measures idle time exactly on CPUs
 * that stop their tick (kernel/time/tick-sched.c). User and system time is a sample at each tick, and misses
 * work that always begins just after a tick. A CPU that polls while it is idle (idle=poll, haltpoll) has cycles
 * in its idle time, so its frequency appears too high.
 */
#ifndef PEBSD_FREQUENCY_H
#define PEBSD_FREQUENCY_H

#include "origin/event_counts.h"

/* The times of one CPU since the boot, in ticks (sysconf(_SC_CLK_TCK) in a second). */
struct frequency_times {
	int cpu;
	u64 all;
	u64 idle; /* halted, waiting for I/O, stolen by the hypervisor, or in a guest */
};

/*
 * Reads the lines of the CPUs from the text of /proc/stat. They are in ascending order (show_stat(),
 * fs/proc/stat.c). Returns 0, -EINVAL if the text is not valid, or -ENOMEM. The caller frees `*ret`.
 */
int frequency_times_parse(const char *stat, struct frequency_times **ret, size_t *ret_n);

/* What was read at one moment. Both lists are in ascending order of CPU numbers. */
struct frequency_look {
	u64 at_ns; /* CLOCK_MONOTONIC */
	const struct frequency_times *times;
	size_t n_times;
	const struct cpu_counts *counts; /* of an event of cycles */
	size_t n_counts;
};

enum frequency_result {
	FREQUENCY_KNOWN,
	FREQUENCY_TOO_LITTLE, /* a longer span may have enough busy time and cycles */
	FREQUENCY_NOTHING,    /* no CPU can be compared, or the result is not possible */
};

/*
 * Computes the mean frequency of the CPUs between two looks, in Hz. It leaves out CPUs on which the event did not
 * run all the time for another reason than multiplexing, for which the cycles are scaled. `period` is the event's
 * longest period in the span, and `ticks` the number of ticks in a second. `*ret_hz` is written only if the
 * result is FREQUENCY_KNOWN.
 */
enum frequency_result frequency_of(const struct frequency_look *before, const struct frequency_look *now,
				   u64 period, long ticks, double *ret_hz);

#endif
