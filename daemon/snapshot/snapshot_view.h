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
	u64 depth;
	/* Only one sum: of the path that is displayed as this, and everything below it. NULL: not used. */
	const char *subtree;
	bool one_event; /* only figures of `event`; cgroups without a sample of it are omitted */
	unsigned event;
};

struct snapshot_view;

/*
 * Returns true if `path` is displayed as `subtree`, or lies below it. `ret_length` gets the number of bytes
 * of `path` that are displayed as `subtree`.
 */
bool snapshot_view_holds(const char *path, const char *subtree, size_t *ret_length);

/*
 * Number of cgroups without a slot at and below the path of `length` bytes. Counts only stored names
 * (no_slot.h).
 */
u64 snapshot_view_without_slot(const struct snapshot *snapshot, const char *path, size_t length);

/*
 * Returns 0 or -ENOMEM. The view's snapshot is sorted like any other. It is valid as long as `snapshot` and
 * the view.
 */
int snapshot_view_new(const struct snapshot *snapshot, const struct view_request *request,
		      struct snapshot_view **ret);
const struct snapshot *snapshot_view_of(const struct snapshot_view *view);
struct snapshot_view *snapshot_view_free(struct snapshot_view *view);
DEFINE_CLEANUP(struct snapshot_view *, snapshot_view_free)

#endif
