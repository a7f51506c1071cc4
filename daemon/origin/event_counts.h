// SPDX-License-Identifier: GPL-2.0
/* The counts of one event: on one CPU, on all of them, or over some time. Pure functions. */
#ifndef PEBSD_EVENT_COUNTS_H
#define PEBSD_EVENT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/*
 * The only list of these counts. Adding, copying and saving them, the history on disk and its messages
 * all use it. daemon/snapshot/event_figures.h says how they are shown.
 */
#define EVENT_COUNTS_OF_TIME_(X)                                                                      \
	X(expected)   /* samples: the whole periods in the event's count, summed over all openings */ \
	X(enabled_ns) /* time enabled, including the time in error */                                 \
	X(running_ns) /* time on a counter; less than enabled_ns if multiplexed or in error */

#define EVENT_COUNTS_OF_STOPS_(X)                                                                \
	X(throttled_ns) /* time that the kernel kept the event throttled; see perf_throttle.h */ \
	X(throttles)    /* how often the kernel throttled the event */                           \
	X(paused_ns)    /* time that the event was closed because of a requested pause */        \
	X(rearmed)      /* number of rearmings because the event no longer produced samples: perf_stall.h */

#define EVENT_COUNTS_SAVED(X)    \
	EVENT_COUNTS_OF_TIME_(X) \
	EVENT_COUNTS_OF_STOPS_(X)

#define EVENT_COUNTS_UNSAVED_(X) X(missed) /* samples expected while the event was stalled, by this process */

#define EVENT_COUNTS(X)       \
	EVENT_COUNTS_SAVED(X) \
	EVENT_COUNTS_UNSAVED_(X)

/*
 * Samples that are not counted have these names:
 * - missing: expected, but so far neither seen, filtered nor malformed. Some may still come (window/readings.c).
 * - missed: expected while the event was stalled. These never come.
 * - unexplained: missing, and certain to be lost: missed, or missing at two collections.
 * - malformed: came, but could not be read.
 * - lost: malformed or unexplained (window/sliding.h).
 */

/* All counts of an event as a whole (window/readings.h), with those that the kernel side and the daemon add. */
#define EVENT_COUNTS_OF_READING(X)                                                      \
	X(seen)      /* samples in the totals, including `unattributed` */              \
	X(malformed) /* samples that were lost because they were malformed */           \
	X(filtered)  /* samples of operations that the event excludes */                \
	EVENT_COUNTS(X)                                                                 \
	X(unexplained) /* expected samples that did not come, without a known reason */ \
	X(waiting_ns)  /* enabled but not running */

/*
 * The counts as members of a struct. `throttle_known` false: throttled_ns and throttles cover only a part of
 * the time.
 */
#define EVENT_COUNT_MEMBER_(name) u64 name;
#define EVENT_COUNT_MEMBERS                         \
	EVENT_COUNTS_OF_TIME_(EVENT_COUNT_MEMBER_)  \
	bool throttle_known;                        \
	EVENT_COUNTS_OF_STOPS_(EVENT_COUNT_MEMBER_) \
	EVENT_COUNTS_UNSAVED_(EVENT_COUNT_MEMBER_)

/*
 * These macros copy or add the counts of two structs with EVENT_COUNT_MEMBERS, given by their
 * addresses. Only event_counts_copy() touches `throttle_known`.
 */
#define EVENT_COUNT_COPY_(name) to_->name = from_->name;
#define EVENT_COUNT_ADD_(name)  to_->name += from_->name;
#define EVENT_COUNTS_EACH_(to, from, each)       \
	do {                                     \
		__typeof__(to) to_ = (to);       \
		__typeof__(from) from_ = (from); \
		EVENT_COUNTS(each)               \
	} while (0)
#define event_counts_add(to, from) EVENT_COUNTS_EACH_(to, from, EVENT_COUNT_ADD_)
#define event_counts_copy(to, from)                              \
	do {                                                     \
		EVENT_COUNTS_EACH_(to, from, EVENT_COUNT_COPY_); \
		(to)->throttle_known = (from)->throttle_known;   \
	} while (0)

/* The counts of an event on one CPU. */
struct cpu_counts {
	int cpu;
	bool open; /* false: the event is paused or its CPU is offline, and the counts are the last ones */
	bool in_error; /* open but not counting: another pinned event holds the counter */
	u64 count;     /* events; excludes the unfinished period while the event runs */
	EVENT_COUNT_MEMBERS
};

/* perf_save.h saves this struct as it is. A version with another layout opens the perf events again. */
_Static_assert(sizeof(struct cpu_counts) == 88 && offsetof(struct cpu_counts, throttled_ns) == 48,
	       "if you change this, the next version opens the perf events again");

/*
 * Adds the counts of `addend` to `sum`. `throttle_known` stays true only if it is true in both. Other members
 * stay unchanged.
 */
static inline void cpu_counts_add(struct cpu_counts *sum, const struct cpu_counts *addend)
{
	sum->count += addend->count;
	sum->throttle_known = sum->throttle_known && addend->throttle_known;
	event_counts_add(sum, addend);
}

#endif
