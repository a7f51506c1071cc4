// SPDX-License-Identifier: GPL-2.0
/*
 * The readings of each event as a whole at the last collections, to compute losses and times over a window. They are
 * cumulative counters, in a ring. Pure.
 */
#ifndef PEBSD_READINGS_H
#define PEBSD_READINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "origin/event_counts.h"
#include "pebsd/sample.h"

/*
 * The counts of one event since the start, summed over CPUs. `unexplained` and `waiting_ns` are derived from the
 * others, and never decrease: see reading_count_losses().
 */
struct reading {
	bool counted; /* the origin provides its counts (perf does, a replay does not) */
	bool throttle_known;
	EVENT_COUNTS_OF_READING(EVENT_COUNT_MEMBER_)
};

struct readings;

#define READINGS_GAP_NS (100 * NSEC_PER_MSEC)

/*
 * Keeps the readings of `n_events` events for at least `span_ns`, longer if collections are more than READINGS_GAP_NS
 * apart. Returns 0, -EINVAL or -ENOMEM. Free with readings_free().
 */
int readings_new(u64 span_ns, size_t n_events, struct readings **ret);
struct readings *readings_free(struct readings *readings);
DEFINE_CLEANUP(struct readings *, readings_free)

/*
 * Adds the reading of one collection at `now_ns` (CLOCK_MONOTONIC, growing). It replaces the last reading if
 * the one before that is less than READINGS_GAP_NS old. Takes as much memory as the collections need; if there is none,
 * drops the oldest.
 */
void readings_push(struct readings *readings, u64 now_ns, const struct reading events[]);

/*
 * The reading of an event at the last collection not after `at_ns`. If there is none: all zero if nothing was
 * dropped yet, else the oldest one kept.
 */
struct reading readings_at(const struct readings *readings, unsigned event, u64 at_ns);

/* now - before, member by member; `counted` and `throttle_known` are those of `now`. */
struct reading reading_delta(const struct reading *now, const struct reading *before);

/*
 * Derives `waiting_ns` and `unexplained`. `unexplained` is the number of expected samples that were neither
 * seen nor filtered nor malformed, and were missing both at the collection `before` and at this one.
 *
 * A sample counts as expected a moment before the program has accounted it, because the kernel updates an
 * event's page first (x86_pmu_handle_irq in arch/x86/events/core.c). That moment may be long if a host takes the
 * CPU away from a guest. A sample that is missing only for that reason is accounted by the next collection. So a
 * loss is reported one collection later. `missed` samples are certain to be lost, so they are reported at once.
 *
 * Readers treat both members as counters: if the present values would give less than `before`, the old value
 * stays.
 */
void reading_count_losses(struct reading *now, const struct reading *before);

/*
 * Running time divided by enabled time, 0 to 1. Returns false if these times were not counted or the event
 * was never enabled.
 */
bool reading_running_ratio(const struct reading *reading, double *ret);

/*
 * Returns the factor by which the weights of the samples between two readings have to be multiplied because the
 * event did not run all the time: enabled time divided by running time, from 1 to READING_SCALE_MAX. Returns 1 if
 * these times were not counted or the event did not run.
 *
 * The times are read a moment before the samples. If an event runs for less than a hundredth of its time, the
 * samples of that moment would weigh too much.
 */
#define READING_SCALE_MAX 100.0
double reading_scale(const struct reading *now, const struct reading *before);

#endif
