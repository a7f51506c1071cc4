// SPDX-License-Identifier: GPL-2.0
/* Makes a snapshot of the books: for the whole time, or for a window. Pure. */
#ifndef PEBSD_SNAPSHOT_BUILD_H
#define PEBSD_SNAPSHOT_BUILD_H

#include "collect/ledger.h"
#include "snapshot/snapshot.h"
#include "window/readings.h"
#include "window/window.h"

/* What was counted for each ledger entry, over the same time, by ascending number of the entry. */
struct offcore_sum {
	u32 entry;
	struct offcore_figures figures;
};

struct offcore_sums {
	size_t n;
	struct offcore_sum *sums;
};

/* Adds one, above those before it. 0 or -ENOMEM. */
int offcore_sums_add(struct offcore_sums *sums, u32 entry, const struct offcore_figures *figures);
struct offcore_sums *offcore_sums_free(struct offcore_sums *sums);
DEFINE_CLEANUP(struct offcore_sums *, offcore_sums_free)

/* What a snapshot is made of. Nothing is taken over: all of it outlives the snapshot, but for `sums` and
 * `offcore`. */
struct snapshot_sources {
	const struct snapshot
		*head; /* all plain members but window, events' figures and cgroups are copied */
	const struct ledger *ledger;
	struct window_sums *sums;       /* NULL: the whole time; else it is the snapshot's from here on */
	struct offcore_sums *offcore;   /* the snapshot's from here on; NULL: none are counted */
	const struct reading *readings; /* an event's figures over the same time, head->n_events of them */
	bool (*synthetic)(u64 id);      /* whether an id is made up and stands for no cgroup; NULL: none is */
};

/*
 * Without cgroups' figures: of each event those of all together, `totals` and `unattributed` samples, and of
 * the cgroups only those that hold virtual machines, with nothing but their names and states. It costs next
 * to nothing, however many cgroups there are. `sums` and `offcore` are not looked at. 0 or -ENOMEM.
 */
int snapshot_build_summary(const struct snapshot_sources *sources, const struct figures *totals,
			   struct snapshot **ret);

/* 0 or -ENOMEM; free with snapshot_free(). `sums` and `offcore` are freed in either case. */
int snapshot_build(const struct snapshot_sources *sources, struct snapshot **ret);
struct snapshot *snapshot_free(struct snapshot *snapshot);
DEFINE_CLEANUP(struct snapshot *, snapshot_free)

#endif
