// SPDX-License-Identifier: GPL-2.0
/*
 * Declarations that perf_offcore.c, which counts, shares with perf_offcore_save.c, which saves the counters.
 */
#ifndef PEBSD_PERF_OFFCORE_INTERNAL_H
#define PEBSD_PERF_OFFCORE_INTERNAL_H

#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "origin/perf/perf_offcore.h"

struct offcore_saved;

/* The counters of one CPU. */
struct offcore_place {
	int cpu;
	u32 pmu;
	int fds[OFFCORE_KINDS]; /* -1: not counted here */
	/* Both values are those of the last check whether the CPU went offline and came back. */
	u64 settles;
	u64 enabled_ns;
};

struct offcore_set {
	size_t n_counters;
	struct pmu_counter counters[PMU_COUNTERS_MAX];
	size_t n_pmus;
	struct offcore_pmu pmus[OFFCORE_PMUS_MAX];
	char *online_path;
	struct cpu_list members_as_of; /* the online CPUs when the counters' members were last updated */
	u32 cpus;
	size_t n;
	struct offcore_place *places;
	struct kernel_offcore *kernel; /* not owned; NULL until the set is started */
	bool paused;
	struct offcore_saved *saved; /* NULL: nothing outlives the process */
};

static inline void offcore_close_place(struct offcore_place *place)
{
	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
		cleanup_close(&place->fds[kind]);
}

/* Calls ioctl(2) with `request`, a PERF_EVENT_IOC_*, for each counter. */
static inline void offcore_control_place(const struct offcore_place *place, unsigned long request)
{
	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
		if (place->fds[kind] >= 0)
			(void)ioctl(place->fds[kind], request, 0);
}

/*
 * offcore_save_begin() makes a set saved: it reads the data that the previous process saved, and ends the
 * counters of CPUs that are not among the places. It returns 0 or -errno. For a set that is not saved, the
 * other functions below do nothing.
 */
int offcore_save_begin(struct offcore_set *set, const struct offcore_save_settings *save);
void offcore_save_end(struct offcore_set *set);

/*
 * Marks that all places have counters of this set. If the previous process had other counters and this one
 * ends before the call, the next process takes over none.
 */
void offcore_save_begun(struct offcore_set *set);

/*
 * Returns true if the counters of the previous process keep counting here. `place` then has their
 * descriptors.
 */
bool offcore_save_take(struct offcore_set *set, struct offcore_place *place);

/*
 * offcore_save_put() stores counters that were just placed, and removes those stored before.
 * offcore_save_drop() removes the stored counters of a CPU.
 */
void offcore_save_put(struct offcore_set *set, const struct offcore_place *place);
void offcore_save_drop(struct offcore_set *set, int cpu);

#endif
