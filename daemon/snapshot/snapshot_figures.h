// SPDX-License-Identifier: GPL-2.0
/* The figures of one cgroup of a snapshot at a time. Pure. */
#ifndef PEBSD_SNAPSHOT_FIGURES_H
#define PEBSD_SNAPSHOT_FIGURES_H

#include "snapshot/snapshot.h"

/* Some 60 KB: one for all the cgroups that are gone through. */
struct cgroup_figures {
	const struct figures *of[EVENTS_MAX]; /* NULL: no sample of that event */
	struct figures made[EVENTS_MAX];      /* room for them */
};

/* Reads a cgroup's figures, in the place of those of the one before; they are valid as long as the snapshot
 * and `ret` are. */
void snapshot_figures(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
		      struct cgroup_figures *ret);

#endif
