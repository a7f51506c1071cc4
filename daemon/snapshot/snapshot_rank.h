// SPDX-License-Identifier: GPL-2.0
/* The rank by which the cgroups of a snapshot are sorted. Pure. */
#ifndef PEBSD_SNAPSHOT_RANK_H
#define PEBSD_SNAPSHOT_RANK_H

#include "snapshot/snapshot.h"

/*
 * The kinds of samples that are compared, the most important one first. An instruction is not a load, so samples
 * of different kinds are never added. Samples of loads and stores say most about memory, and of the others, stalls
 * and then cycles.
 */
enum snapshot_samples {
	SAMPLES_LOADS,
	SAMPLES_STORES,
	SAMPLES_STALLS,
	SAMPLES_CYCLES,
	SAMPLES_INSTRUCTIONS,
	SAMPLES_MISSES,
	SAMPLES_KINDS
};

struct snapshot_rank {
	u64 cost; /* weighted latency, all events; saturating */
	u64 samples[SAMPLES_KINDS];
};

/* Returns the kind of an event's samples. An event of off-core responses has none: SAMPLES_KINDS. */
enum snapshot_samples snapshot_samples_of(const struct event *event);

/* Add a cgroup's counters (NULL: none for that event), or another rank. */
void snapshot_rank_count(struct snapshot_rank *rank, const struct snapshot *snapshot,
			 const struct counters *const all[EVENTS_MAX]);
void snapshot_rank_add(struct snapshot_rank *rank, const struct snapshot_rank *addend);

/* Compares for qsort(3), the highest rank first: below 0, 0 or above. */
int snapshot_rank_compare(const struct snapshot_rank *left, const struct snapshot_rank *right);

#endif
