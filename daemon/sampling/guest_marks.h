// SPDX-License-Identifier: GPL-2.0
/*
 * Marks the cgroups that hold virtual machines. Memory accesses of a guest are never sampled, so the counters
 * of such a cgroup describe only its host side. The search runs only from time to time, because its cost
 * grows with the number of threads in the system: a third of a microsecond for each, measured on Linux 6.18
 * with 5,000 threads.
 */
#ifndef PEBSD_GUEST_MARKS_H
#define PEBSD_GUEST_MARKS_H

#include "engine/engine.h"
#include "kernel/guests.h"

/*
 * Minimum time between two searches. The shorter one applies if a cgroup was born since the last search,
 * because a new cgroup may contain a new virtual machine.
 */
#define GUEST_MARKS_IDLE_NS  (30 * NSEC_PER_SEC)
#define GUEST_MARKS_BIRTH_NS (3 * NSEC_PER_SEC)

/* At most 1 / GUEST_MARKS_SHARE of the time is spent on searching. */
#define GUEST_MARKS_SHARE 1000

struct guest_marks {
	struct guests *guests; /* NULL: cannot be determined */
	u64 looked_ns;         /* CLOCK_MONOTONIC, time of the last search; 0: never */
	u64 took_ns;           /* duration of the last search */
	u64 births;            /* cgroups born before the last search */
	bool failed;           /* the last search failed, which was logged */
	bool found;            /* virtual machines were found, which was logged */
};

/*
 * Returns whether the events or the off-core counters leave out guests. AMD's IBS cannot leave them out
 * (perf_ibs_init, arch/x86/events/amd/ibs.c, Linux 6.1), so with IBS alone a mark would be wrong. An event
 * with `operations` in its settings is one of IBS. Pure: no system call.
 */
bool guest_marks_wanted(const struct event *events, size_t n, bool offcore);

/* Opens the search. On failure, logs the reason, and no cgroup is ever marked. */
void guest_marks_open(struct guest_marks *ret);
void guest_marks_done(struct guest_marks *marks);

/* Searches if a search is due, and passes the result to the engine. */
void guest_marks_tick(struct guest_marks *marks, struct engine *engine);

/* Returns whether a search is due. `births`: cgroups born so far. Pure: no system call. */
bool guest_marks_due(const struct guest_marks *marks, u64 now_ns, u64 births);

#endif
