// SPDX-License-Identifier: GPL-2.0
/*
 * For the origin `perf`: measures the cost of sampling and applies the periods that the governor chooses. The
 * results are in `cost` of each event in the snapshot.
 */
#ifndef PEBSD_SAMPLING_GOVERN_H
#define PEBSD_SAMPLING_GOVERN_H

#include "base/cleanup.h"
#include "config/config.h"
#include "kernel/kernel.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_notes.h"
#include "snapshot/snapshot.h"

struct sampling_govern;

struct sampling_govern_settings {
	const struct config *config; /* [sampling] budget, and the periods that the events were opened with */
	struct kernel *kernel;
	struct snapshot *head;
	struct perf_event_set *const *sets; /* in the order of the head's events */
	size_t n_sets;
	struct perf_notes *notes; /* notes that are shown until their cause is gone */
};

/* Everything in `settings` except for the configuration must outlive `*ret`. Returns 0 or -errno. */
int sampling_govern_new(const struct sampling_govern_settings *settings, struct sampling_govern **ret);
struct sampling_govern *sampling_govern_free(struct sampling_govern *govern);
DEFINE_CLEANUP(struct sampling_govern *, sampling_govern_free)

/*
 * Call this after each perf_count() of all sets. If less than half an interval has passed since the last
 * step, the function does nothing and leaves the counts to the next call. `max_rate` is
 * kernel.perf_event_max_sample_rate; 0: not known. The step after the first whole interval begins the
 * calibration, on a thread of its own. A calibration that failed is retried later, at most three times in a row.
 */
void sampling_govern_counted(struct sampling_govern *govern, u64 max_rate);

/* Ends a calibration that is running. The calibration begins again after the pause. `govern` may be NULL. */
void sampling_govern_pause(struct sampling_govern *govern);

/* Changes the budget at a reload. */
void sampling_govern_set_budget(struct sampling_govern *govern, double budget);

/*
 * For a reload of the periods, in two steps around the change. sampling_govern_keeps() finds the events that
 * keep the period of the governor, because there is a budget and their configured period was `auto` and still
 * is. sampling_govern_periods_set() reports that all other events have their new period.
 */
void sampling_govern_keeps(const struct sampling_govern *govern, const struct event_periods *periods,
			   bool ret[static EVENTS_MAX]);
void sampling_govern_periods_set(struct sampling_govern *govern, const struct event_periods *periods);

#endif
