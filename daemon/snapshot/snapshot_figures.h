// SPDX-License-Identifier: GPL-2.0
/* Reads the figures of one cgroup of a snapshot at a time. Pure. */
#ifndef PEBSD_SNAPSHOT_FIGURES_H
#define PEBSD_SNAPSHOT_FIGURES_H

#include "snapshot/snapshot.h"

/* About 60 KB: allocate one and reuse it for all cgroups of a loop. */
struct cgroup_figures {
	const struct figures *of[EVENTS_MAX]; /* NULL: no sample of that event */
	struct figures made[EVENTS_MAX];      /* memory for computed ones */
};

/*
 * Reads a cgroup's figures to `ret`, replacing those of the previous one. The figures are valid as long as
 * the snapshot and `ret`.
 */
void snapshot_figures(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
		      struct cgroup_figures *ret);

#endif
