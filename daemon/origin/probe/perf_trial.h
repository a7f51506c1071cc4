// SPDX-License-Identifier: GPL-2.0
/* Events opened for a moment: how long that takes, and whether somebody else has their counters. */
#ifndef PEBSD_PERF_TRIAL_H
#define PEBSD_PERF_TRIAL_H

#include "origin/pmu/pmu.h"

/* CPUs that one trial looks at, at most: it interrupts each of them. */
#define PERF_TRIAL_CPUS 16

struct perf_trial {
	size_t opened; /* times that the event was opened, once a CPU */
	u64 ns;        /* that these took together: opening, mapping, attaching the program, enabling */
	struct cpu_list in_error; /* CPUs on which it found no counter: another pinned event has that */
};

/*
 * Opens the event as the daemon does on the first CPUs of its list, with the program attached, looks and
 * closes it again. `program_fd` stays the caller's. Returns 0 or -errno of the first CPU that failed.
 */
int perf_trial(const struct pmu_opening *opening, int program_fd, struct perf_trial *ret);

/* Opens a counter on one CPU and closes it again. Returns 0 or -errno. */
int perf_trial_counter(const struct pmu_counter *counter, int cpu);

/*
 * Whether this process may open an event on a whole CPU, by one that needs no PMU (PERF_COUNT_SW_DUMMY).
 * Returns 0 or -errno of perf_event_open(2).
 */
int perf_trial_permission(void);

/*
 * Bytes of the structures that the kernel allocates for each event, by its own types (BTF): perf_event, the
 * file and the ring's head. There is more that no type tells. 0 where they are not known.
 */
u64 perf_trial_event_bytes(void);

#endif
