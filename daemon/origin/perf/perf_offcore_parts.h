// SPDX-License-Identifier: GPL-2.0
/* What counting (perf_offcore.c) and what outlives the process (perf_offcore_kept.c) share. */
#ifndef PEBSD_PERF_OFFCORE_PARTS_H
#define PEBSD_PERF_OFFCORE_PARTS_H

#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "origin/perf/perf_offcore.h"

struct offcore_books;

/* One CPU's counters. */
struct offcore_place {
	int cpu;
	u32 pmu;
	int fds[OFFCORE_KINDS]; /* -1: not counted here */
	u64 settles;            /* as of the last look for a CPU that went and came */
	u64 enabled_ns;
};

struct offcore_set {
	size_t n_counters;
	struct pmu_counter counters[PMU_COUNTERS_MAX];
	size_t n_pmus;
	struct offcore_pmu pmus[OFFCORE_PMUS_MAX];
	char *online_path;
	u32 cpus;
	size_t n;
	struct offcore_place *places;
	struct kernel_offcore *kernel; /* not owned; NULL until started */
	bool paused;
	struct offcore_books *books; /* NULL: nothing outlives the process */
};

static inline void offcore_close_place(struct offcore_place *place)
{
	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
		cleanup_close(&place->fds[kind]);
}

/* `request`: PERF_EVENT_IOC_*, of each counter. */
static inline void offcore_control_place(const struct offcore_place *place, unsigned long request)
{
	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
		if (place->fds[kind] >= 0)
			(void)ioctl(place->fds[kind], request, 0);
}

/*
 * For a set that is not kept these do nothing. Begins with the books of the process before, and ends what is
 * in them of CPUs that are not among the places. 0 or -errno.
 */
int offcore_kept_begin(struct offcore_set *set, const struct offcore_keep *keep);
void offcore_kept_end(struct offcore_set *set);

/* All places have counters of this set: until then the next process takes none of them over. */
void offcore_kept_begun(struct offcore_set *set);

/* Whether the counters of before count on there; then `place` has their descriptors. */
bool offcore_kept_take(struct offcore_set *set, struct offcore_place *place);

/* Counters that have just been placed are stored, in the place of any before; those of a CPU are gone. */
void offcore_kept_put(struct offcore_set *set, const struct offcore_place *place);
void offcore_kept_drop(struct offcore_set *set, int cpu);

#endif
