// SPDX-License-Identifier: GPL-2.0
/*
 * Adds collections up to panes. The sum of all panes is exactly the sum of the collections, except for panes that
 * are reported as lost. Pure: no clock.
 *
 * A pane ends at the first collection after a multiple of HISTORY_PANE_SECONDS on the wall clock, or at the first
 * one after a pause began or ended. It ends before a collection in which the wall clock was set or the settings of
 * an event changed. Panes that follow each other without a loss or a step of the clock have the same run.
 *
 * Deltas are kept as they came, and added up when the pane ends or when they take more than PANES_BYTES.
 */
#ifndef PEBSD_PANES_H
#define PEBSD_PANES_H

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "collect/deltas.h"
#include "history/shared/history_pane.h"
#include "snapshot/snapshot.h"
#include "window/readings.h"

/* Memory of deltas that are not added up yet, besides the memory of those that are. */
#define PANES_BYTES ((size_t)1 << 19)

/* Both clocks may differ by this much between two collections without a step: they are not read at once. */
#define PANES_STEP_US 250000

struct panes_collection {
	struct clocks at;
	const struct snapshot *head; /* events, with keys, periods and frequencies, `origin`, and `paused` */
	const struct reading *readings; /* of each event, since the start */
	const struct delta *list;
	size_t n;
};

struct panes_settings {
	/* Called with each complete pane, which is valid during the call. */
	void (*complete)(void *userdata, const struct history_pane *pane);
	/* Called if a pane is lost: -ENOMEM, or -E2BIG if its deltas take too much memory. */
	void (*lost)(void *userdata, int error);
	void *userdata;
	/* The labels of cgroups; NULL: none. Looked up when a pane ends. */
	const struct container_lookup *containers;
	bool ids; /* the ids of the totals' entries are those of cgroups */
};

struct panes;

/*
 * The first collection covers the time since `began`. `readings` are those of that time. Returns 0 or -ENOMEM. Free
 * it with panes_free(), which drops an incomplete pane.
 */
int panes_new(const struct panes_settings *settings, const struct clocks *began,
	      const struct reading readings[EVENTS_MAX], struct panes **ret);
struct panes *panes_free(struct panes *panes);
DEFINE_CLEANUP(struct panes *, panes_free)

/* Adds a collection. Calls `complete` or `lost` for each pane that ends, at most twice. */
void panes_add(struct panes *panes, const struct panes_collection *collection);

/* Ends the pane now, unless it has no collection, or the wall clock is not after its start. */
void panes_end(struct panes *panes);

/* Begins a new run with the next pane: call it if a complete pane was lost. */
void panes_break(struct panes *panes);

/* Memory used, bytes. */
size_t panes_bytes(const struct panes *panes);

#endif
