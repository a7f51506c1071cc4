// SPDX-License-Identifier: GPL-2.0
/* Opens events for a moment, to measure how long that takes and to find counters that are taken. */
#ifndef PEBSD_PERF_TRIAL_H
#define PEBSD_PERF_TRIAL_H

#include "origin/pmu/pmu.h"

/* Maximum number of CPUs for one trial, because a trial interrupts each of them. */
#define PERF_TRIAL_CPUS 16

struct perf_trial {
	size_t opened;            /* number of times that the event was opened: once on each CPU */
	u64 ns;                   /* total time of opening, mapping, attaching the program and enabling */
	struct cpu_list in_error; /* CPUs where another pinned event holds the counter */
};

/*
 * Opens the event as the daemon does, on the first CPUs of its list and with the program attached. Checks the
 * event for an error and closes it again. The caller owns `program_fd`. Returns 0 or -errno of the first CPU
 * that failed.
 */
int perf_trial(const struct event_spec *spec, int program_fd, struct perf_trial *ret);

/* Opens a counter on one CPU and closes it again. Returns 0 or -errno. */
int perf_trial_counter(const struct pmu_counter *counter, int cpu);

/*
 * Checks whether this process may open a CPU-wide event, with one that needs no PMU (PERF_COUNT_SW_DUMMY).
 * Returns 0 or -errno of perf_event_open(2).
 */
int perf_trial_permission(void);

/*
 * Returns the size of the structures that the kernel allocates for each event, according to its types (BTF):
 * perf_event, the file and the head of the ring. The kernel allocates more, which no type shows. Returns 0 if
 * the size is not known.
 */
u64 perf_trial_event_bytes(void);

#endif
