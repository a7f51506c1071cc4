// SPDX-License-Identifier: GPL-2.0
/*
 * For the origin `perf`: measures what sampling costs, and has the governor's periods be in force. What it
 * finds is in the snapshot's `cost` of each event.
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
	const struct config *config; /* [sampling] budget and the periods, as the events were opened */
	struct kernel *kernel;
	struct snapshot *head;
	struct perf_event_set *const *sets; /* in the order of the head's events */
	size_t n_sets;
	struct perf_notes *notes; /* for what stays so */
};

/* All but the configuration outlives it. 0 or -errno. */
int sampling_govern_new(const struct sampling_govern_settings *settings, struct sampling_govern **ret);
struct sampling_govern *sampling_govern_free(struct sampling_govern *govern);
DEFINE_CLEANUP(struct sampling_govern *, sampling_govern_free)

/*
 * After each perf_count() of all sets. What is less than half an interval after the last is left to the next.
 * `max_rate`: kernel.perf_event_max_sample_rate; 0: not known. The first interval begins the calibration, on
 * a thread of its own; one that failed is tried again later.
 */
void sampling_govern_counted(struct sampling_govern *govern, u64 max_rate);

/* Ends a calibration under way: it begins anew after the pause, before which none does. `govern`: may be
 * NULL. */
void sampling_govern_pause(struct sampling_govern *govern);

/* For a reload. */
void sampling_govern_set_budget(struct sampling_govern *govern, double budget);

/*
 * The same, in two steps around the change: which events keep the period that the governor gave them, as
 * their configured one was and is `auto`; and that all have what they are to begin with.
 */
void sampling_govern_keeps(const struct sampling_govern *govern, u64 period, u64 instructions_period,
			   bool ret[static EVENTS_MAX]);
void sampling_govern_periods_set(struct sampling_govern *govern, u64 period, u64 instructions_period);

#endif
