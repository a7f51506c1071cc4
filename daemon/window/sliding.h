// SPDX-License-Identifier: GPL-2.0
/*
 * The window of one rule, over the tallies of many targets (a target is a cgroup, or a subtree of cgroups). The
 * deltas of each collection enter at one end and leave at the other. Pure: no clock.
 *
 * The window moves in panes of a thirtieth of its length, or of one collection if that is longer. It covers
 * at least its length and at most one pane more. A pane stores the counters that moved, in a few bytes each.
 */
#ifndef PEBSD_SLIDING_H
#define PEBSD_SLIDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "window/tally.h"

#define SLIDING_PANES 30

/*
 * The use of one event's time, between two collections or over the window, in nanoseconds summed over CPUs.
 */
struct sliding_time {
	u64 elapsed_ns; /* by the clock, not summed over CPUs */
	u64 enabled_ns; /* always 0 if the origin does not provide it (a replay) */
	u64 running_ns;
	u64 unsampled_ns; /* by the clock: no sample could come, because sampling was paused, closed or had failed */
	u64 expected; /* expected samples; 0: not known */
	u64 lost;     /* malformed and unexplained samples: origin/event_counts.h */
};

struct sliding;

/*
 * Called before a target's record leaves the window and is subtracted. `time` is that of the record's pane.
 */
typedef void (*sliding_leaving)(void *userdata, u32 target, const struct tally *tally,
				const struct sliding_time *time);

/*
 * Called before a pane leaves the window, and before its records leave. The pane's time also leaves the window
 * of targets that have no record in the pane.
 */
typedef void (*sliding_passing)(void *userdata, const struct sliding_time *time);

struct sliding_settings {
	u64 window_ns;
	size_t max_bytes; /* of panes; if more is needed, the oldest are dropped, and the window is not covered */
	sliding_leaving leaving; /* may be NULL */
	sliding_passing passing; /* may be NULL */
	void *userdata;
};

/* Returns 0 or -ENOMEM. Free with sliding_free(). `start_ns`: start of the first collection. */
int sliding_new(const struct sliding_settings *settings, u64 start_ns, struct sliding **ret);
struct sliding *sliding_free(struct sliding *sliding);
DEFINE_CLEANUP(struct sliding *, sliding_free)

/* Allocates a number for a target, below 2^31. Returns 0 or -ENOMEM. */
int sliding_open(struct sliding *sliding, u32 *ret);

/*
 * Removes a target. Its tally is 0 at once, and its number may be reused. From the next collection on, the records of
 * closed targets take at most about as much memory as those of open ones.
 */
void sliding_close(struct sliding *sliding, u32 number);

/*
 * One collection: begin, any number of puts (several for one target add up), end. It covers the time since
 * the previous collection: this sets the elapsed time, and `time->elapsed_ns` is ignored. sliding_end()
 * returns 0 or the first failure: -EINVAL for a time before the last one or a begin or end too many, -ENOMEM.
 * After a failure the window is empty and starts again at this collection's time.
 */
void sliding_begin(struct sliding *sliding, u64 now_ns, const struct sliding_time *time);
void sliding_put(struct sliding *sliding, u32 number, const struct tally *delta);
int sliding_end(struct sliding *sliding);

/*
 * The tally of a target in the window. Never NULL; all zero if there is none. Valid until the next call that
 * is not const.
 */
const struct tally *sliding_tally(const struct sliding *sliding, u32 number);

/* Prefetches a tally that is read soon: a walk over thousands of them mostly waits for memory. */
void sliding_fetch(const struct sliding *sliding, u32 number);

/*
 * Calls `part` with a target's tally in each pane, oldest first, the open pane last. The tally is all zero
 * if the pane has no sample of the target. Use it for a few targets per collection: it searches each pane.
 */
typedef void (*sliding_part)(void *userdata, const struct tally *tally, const struct sliding_time *time);
void sliding_parts(const struct sliding *sliding, u32 number, sliding_part part, void *userdata);

/*
 * The sum of the times in the window. Once sliding_covered() is true, `elapsed_ns` is at least the window's
 * length.
 */
struct sliding_time sliding_time(const struct sliding *sliding);
bool sliding_covered(const struct sliding *sliding);

/*
 * The targets whose tally the last collection changed by adding or removing, each once. May include closed
 * ones.
 */
const u32 *sliding_changed(const struct sliding *sliding, size_t *ret_n);

/* Sets another `max_bytes`; panes that exceed it leave at once. */
void sliding_limit(struct sliding *sliding, size_t max_bytes);

/* Memory used: in total, and by panes alone. */
size_t sliding_bytes(const struct sliding *sliding);
size_t sliding_pane_bytes(const struct sliding *sliding);

#endif
