// SPDX-License-Identifier: GPL-2.0
/* The rank by which the cgroups of a snapshot are sorted. Pure. */
#ifndef PEBSD_SNAPSHOT_RANK_H
#define PEBSD_SNAPSHOT_RANK_H

#include "snapshot/snapshot.h"

struct snapshot_rank {
	u64 cost; /* weighted latency, all events; saturating */
	u64 samples[EVENT_ROLES];
};

/* Add a cgroup's figures (NULL: none for that event), or another rank. */
void snapshot_rank_count(struct snapshot_rank *rank, const struct snapshot *snapshot,
			 const struct figures *const all[EVENTS_MAX]);
void snapshot_rank_add(struct snapshot_rank *rank, const struct snapshot_rank *addend);

/* Compares for qsort(3), the highest rank first: below 0, 0 or above. */
int snapshot_rank_compare(const struct snapshot_rank *left, const struct snapshot_rank *right);

#endif
