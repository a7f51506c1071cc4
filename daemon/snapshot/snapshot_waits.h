// SPDX-License-Identifier: GPL-2.0
/* What waiting for memory costs (window/waits.h), from the figures of a snapshot. Pure. */
#ifndef PEBSD_SNAPSHOT_WAITS_H
#define PEBSD_SNAPSHOT_WAITS_H

#include "snapshot/snapshot.h"
#include "window/waits.h"

struct snapshot_wait_parts {
	size_t n; /* PMUs; 0: nothing is known */
	struct wait_part parts[EVENTS_MAX];
	struct wait_events events[EVENTS_MAX];
	/*
	 * The snapshot covers a known time. If not, as for a whole replay, the parts cover one second, and only
	 * figures that are ratios are valid.
	 */
	bool timed;
};

/* Returns true if the cost of waiting is computed from such an event. */
bool snapshot_event_is_of_waits(const struct snapshot_event *event);

/*
 * Reads the parts of a cgroup, a sum of cgroups, or the whole snapshot from its counters (NULL: no sample of that
 * event). `n` is 0 if it has no sample of such an event. An event whose running time is not known counts as if it
 * ran all the time; the frequency of a PMU whose running frequency is not known is the nominal one.
 *
 * Counters have no sum of squared weights. All samples of an event count as if they had the same weight, which is
 * right while the governor keeps the period. `effect` is 1.
 */
void snapshot_wait_parts(const struct snapshot *snapshot, const struct counters *const *counters,
			 struct snapshot_wait_parts *ret);

/*
 * Like snapshot_wait_parts(), but the parts also exist without a sample, and then have only times: for sums with other
 * parts. Returns true if there is a sample.
 */
bool snapshot_wait_times(const struct snapshot *snapshot, const struct counters *const *counters,
			 struct snapshot_wait_parts *ret);

/* Computes one figure from the parts, without bounds. Returns false if it is not known. */
bool snapshot_wait_value(const struct snapshot_wait_parts *parts, enum wait_figure figure, double *ret);

/*
 * Computes one figure, without bounds. Use snapshot_wait_value() for several figures. Returns false if it is not known.
 */
bool snapshot_wait(const struct snapshot *snapshot, const struct counters *const *counters,
		   enum wait_figure figure, double *ret);

#endif
