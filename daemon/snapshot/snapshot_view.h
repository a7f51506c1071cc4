// SPDX-License-Identifier: GPL-2.0
/*
 * Another look at a snapshot's cgroups: some of them, one event of theirs, or the sums of subtrees. Pure; the
 * figures of a sum are made when they are read, as the snapshot's own are.
 */
#ifndef PEBSD_SNAPSHOT_VIEW_H
#define PEBSD_SNAPSHOT_VIEW_H

#include "base/cleanup.h"
#include "snapshot/snapshot.h"

/* The longest filter: with what is put around it, it is a pattern. */
#define VIEW_FILTER_MAX 251

struct view_request {
	/* Those whose shown name (base/utf8.h) holds this, in which `*`, `**` and `?` stand for others
	 * (base/glob.h). NULL: all. */
	const char *filter;
	/*
	 * Every cgroup down to so many names below the root, be it sampled itself or not, with the sum of all
	 * that is at it and below: sums hold one another. What is no path (a replay's, the model's) stands as
	 * it is.
	 */
	bool sums;
	u64 depth;
	/* The sum of all at and below the path that is shown as this, and nothing else. NULL: not that. */
	const char *subtree;
	bool one_event; /* figures of `event` alone; those without a sample of it are left out */
	unsigned event;
};

struct snapshot_view;

/* 0 or -ENOMEM. The view's snapshot, ordered as every snapshot is, is valid as long as `snapshot` and the
 * view are. */
int snapshot_view_new(const struct snapshot *snapshot, const struct view_request *request,
		      struct snapshot_view **ret);
const struct snapshot *snapshot_view_of(const struct snapshot_view *view);
struct snapshot_view *snapshot_view_free(struct snapshot_view *view);
DEFINE_CLEANUP(struct snapshot_view *, snapshot_view_free)

#endif
