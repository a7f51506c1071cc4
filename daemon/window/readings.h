// SPDX-License-Identifier: GPL-2.0
/*
 * What each collection read of the events as a whole, kept so that losses and times can be told for a window,
 * too. Cumulative figures in a ring of bounded length. Pure.
 */
#ifndef PEBSD_READINGS_H
#define PEBSD_READINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/sample.h"

/* One event since the start. */
struct reading {
	u64 seen;            /* samples in the books, `unattributed` among them */
	u64 malformed;       /* samples lost for being malformed */
	u64 filtered;        /* samples of operations that the event is not about */
	bool counted;        /* the origin knows the following (perf does, a replay does not) */
	bool throttle_known; /* and of these, what is said of throttling */
	u64 expected;        /* event count / period */
	u64 enabled_ns;      /* summed over CPUs */
	u64 running_ns;
	u64 throttled_ns; /* stopped by the kernel for coming too often, summed over CPUs */
	u64 throttles;    /* how often */
	u64 paused_ns;    /* closed because a pause was asked for, summed over CPUs */
	u64 rearmed;      /* times that it had been left without a next sample on a CPU */
	u64 missed; /* samples that were due in those times, and will never come; of this process alone */

	/* What follows from the above, and never falls: see reading_settle(). */
	u64 unexplained; /* samples that should have come and did not, for no reason that is known */
	u64 waiting_ns;  /* enabled and not running */
};

struct readings;

#define READINGS_GAP_NS (100 * NSEC_PER_MSEC)

/* Keeps the last `span_ns` of `n_events` events. 0, -EINVAL, -ENOMEM; free with readings_free(). */
int readings_new(u64 span_ns, size_t n_events, struct readings **ret);
struct readings *readings_free(struct readings *readings);
DEFINE_CLEANUP(struct readings *, readings_free)

/* Enters one collection at `now_ns` (CLOCK_MONOTONIC, growing); in the place of the last one where that is
 * less than the gap after the one before. Forgets the oldest when full. */
void readings_push(struct readings *readings, u64 now_ns, const struct reading events[]);

/*
 * What an event had at the last collection not after `at_ns`: all zero where that is before the first kept
 * one and nothing was forgotten yet, else the oldest kept.
 */
struct reading readings_at(const struct readings *readings, unsigned event, u64 at_ns);

/* now - before, member by member; `counted` and `throttle_known` as in `now`. */
struct reading reading_difference(const struct reading *now, const struct reading *before);

/*
 * Derives `waiting_ns`, and `unexplained`: of what was expected and is neither seen nor filtered nor
 * malformed, what was missing both at the collection `before` and at this one. A sample counts as expected a
 * moment before the program has accounted it (an event's page is written first, x86_pmu_handle_irq in
 * arch/x86/events/core.c), which may be long where a host takes the CPU away from a guest: one that is
 * missing for that alone is another one the next time, if any. So a loss is told a collection later, but
 * `missed` samples, which are certain to be lost, are told at once. Both are
 * counters to those who read them: where this moment's figures say less than `before` did, that stays.
 */
void reading_settle(struct reading *now, const struct reading *before);

/* Running over enabled time, 0 to 1. False where not counted or never enabled. */
bool reading_running_ratio(const struct reading *reading, double *ret);

#endif
