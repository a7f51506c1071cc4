// SPDX-License-Identifier: GPL-2.0
/*
 * A view of a snapshot: some of its cgroups, only one event of them, or the sums of subtrees. Pure. Figures
 * of a sum are computed when they are read, as the snapshot's own are.
 */
#ifndef PEBSD_SNAPSHOT_VIEW_H
#define PEBSD_SNAPSHOT_VIEW_H

#include "base/cleanup.h"
#include "snapshot/snapshot.h"

/* Maximum length of a filter. With the added wildcards it still fits a pattern. */
#define VIEW_FILTER_MAX 251

/* Maximum depth of sums: usual cgroup trees are far less deep. */
#define VIEW_DEPTH_MAX 99

/*
 * Maximum memory of a view while it is made and listed. Every cgroup that can exist fits: one for each slot of the
 * largest table, and twice as many removed ones that keep their figures. Sums down to a depth add a row for each path
 * above these cgroups. Users who create cgroups choose how many paths that are.
 */
#define VIEW_BYTES ((size_t)72 << 20)

struct snapshot_counters;

struct view_request {
	/*
	 * Only cgroups whose displayed name (base/utf8.h) contains this, with the wildcards `*`, `**` and `?`
	 * (base/glob.h). NULL: all.
	 */
	const char *filter;
	/*
	 * Instead of the cgroups themselves: each of them and each path above them, down to `depth` names
	 * below the root, with the sum of itself and everything below it. So sums contain one another. Names
	 * that are not paths (of a replay or the model) stay as they are.
	 */
	bool sums;
	u64 depth; /* at most VIEW_DEPTH_MAX */
	/* Only one sum: of the path that is displayed as this, and everything below it. NULL: not used. */
	const char *subtree;
	/*
	 * Only figures of `event`, and of the events from which the cost of waiting is computed (snapshot_waits.h),
	 * which are `unlisted`. Cgroups without a sample of `event` are omitted.
	 */
	bool one_event;
	unsigned event;
	/*
	 * Computes a value of each row from its figures, for another order of the rows. The view reads the figures of
	 * each cgroup once for all rows that contain the cgroup. NULL: no values.
	 */
	double (*value)(const struct snapshot *snapshot, const struct snapshot_counters *counters,
			const void *userdata);
	const void *userdata;
};

struct snapshot_view;

/*
 * Number of cgroups without a slot at and below the path of `length` bytes. Counts only stored names
 * (no_slot.h).
 */
u64 snapshot_view_without_slot(const struct snapshot *snapshot, const char *path, size_t length);

/*
 * Returns 0; -ENOMEM; -E2BIG if the sums take more than VIEW_BYTES, before any of them is made; or -EINVAL if `depth`
 * is too large. The view's snapshot is sorted like any other. It is valid as long as `snapshot` and the view.
 */
int snapshot_view_new(const struct snapshot *snapshot, const struct view_request *request,
		      struct snapshot_view **ret);
const struct snapshot *snapshot_view_of(const struct snapshot_view *view);

/* The values of the rows, in the order of the view's snapshot; NULL: none were requested. */
const double *snapshot_view_values(const struct snapshot_view *view);

/* Upper bound of the view's memory, including the peak while it is made and a list of its rows. */
size_t snapshot_view_bytes(const struct snapshot_view *view);

struct snapshot_view *snapshot_view_free(struct snapshot_view *view);
DEFINE_CLEANUP(struct snapshot_view *, snapshot_view_free)

#endif
