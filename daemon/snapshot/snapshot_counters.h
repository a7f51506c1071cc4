// SPDX-License-Identifier: GPL-2.0
/* Reads the counters of one cgroup of a snapshot at a time. Pure. */
#ifndef PEBSD_SNAPSHOT_COUNTERS_H
#define PEBSD_SNAPSHOT_COUNTERS_H

#include "snapshot/snapshot.h"

/* About 60 KB: allocate one and reuse it for all cgroups of a loop. */
struct snapshot_counters {
	const struct counters *of[EVENTS_MAX]; /* NULL: no sample of that event */
	struct counters made[EVENTS_MAX];      /* memory for computed ones */
};

/*
 * Reads a cgroup's counters to `ret`, replacing those of the previous one. The counters are valid as long as
 * the snapshot and `ret`.
 */
void snapshot_counters_of(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
			  struct snapshot_counters *ret);

#endif
