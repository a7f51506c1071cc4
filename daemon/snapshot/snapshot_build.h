// SPDX-License-Identifier: GPL-2.0
/* Builds a snapshot of the counters, for the whole time or for a window. Pure. */
#ifndef PEBSD_SNAPSHOT_BUILD_H
#define PEBSD_SNAPSHOT_BUILD_H

#include "collect/totals.h"
#include "snapshot/snapshot.h"
#include "window/readings.h"
#include "window/window.h"

/*
 * The off-core counts of each entry of the totals, over the time that the snapshot covers. Sorted by the number of
 * the entry.
 */
struct offcore_sum {
	u32 entry;
	struct offcore_counts counters;
};

struct offcore_sums {
	size_t n;
	struct offcore_sum *sums;
};

/* Appends a sum; its entry must be above all earlier ones. Returns 0 or -ENOMEM. */
int offcore_sums_add(struct offcore_sums *sums, u32 entry, const struct offcore_counts *counters);
struct offcore_sums *offcore_sums_free(struct offcore_sums *sums);
DEFINE_CLEANUP(struct offcore_sums *, offcore_sums_free)

/* The sources of a snapshot. They are borrowed and outlive the snapshot, except `sums` and `offcore`. */
struct snapshot_sources {
	const struct snapshot *head; /* copied; must have neither cgroups nor totals of events */
	const struct totals *totals;
	struct window_sums *sums;     /* NULL: the whole time; else owned by the snapshot from now on */
	struct offcore_sums *offcore; /* owned by the snapshot from now on; NULL: none are counted */
	const struct reading
		*readings; /* counts of each event as a whole over the same time, head->n_events of them */
	bool (*synthetic)(u64 id); /* true if an id is made up and not that of a cgroup; NULL: none is */
};

/*
 * Builds a snapshot without counters of cgroups: of each event only the sum of all cgroups (`of_all`) and the
 * `unattributed` samples, and of the cgroups only names and states of those that hold virtual machines. The
 * cost is small for any number of cgroups. Ignores `sums` and `offcore`. Returns 0 or -ENOMEM.
 */
int snapshot_build_summary(const struct snapshot_sources *sources, const struct counters *of_all,
			   struct snapshot **ret);

/* Returns 0 or -ENOMEM. Free with snapshot_free(). Takes over `sums` and `offcore` in either case. */
int snapshot_build(const struct snapshot_sources *sources, struct snapshot **ret);
struct snapshot *snapshot_free(struct snapshot *snapshot);
DEFINE_CLEANUP(struct snapshot *, snapshot_free)

#endif
