// SPDX-License-Identifier: GPL-2.0
/*
 * A sliding window over the tallies of many subjects (a cgroup, or a subtree of them), each collection's
 * differences going in at one end and out at the other. Pure: it has no clock.
 *
 * The window moves in panes of a thirtieth of it, or of a collection where that is longer: it covers at least
 * its length and at most a pane more. Panes hold the counters that moved, in a few bytes each.
 */
#ifndef PEBSD_SLIDING_H
#define PEBSD_SLIDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "window/tally.h"

#define SLIDING_PANES 30

/* What became of one event's time, between two collections or over the window; nanoseconds over CPUs. */
struct sliding_time {
	u64 elapsed_ns; /* of the clock, not summed over CPUs */
	u64 enabled_ns; /* 0 throughout where the origin does not tell (a replay) */
	u64 running_ns;
	u64 blind_ns; /* of the clock: no sample could come: paused, closed, failed */
	u64 expected; /* samples; 0: not known */
	u64 lost;     /* samples, by whatever reason */
};

struct sliding;

/* Something that leaves the window, told before it is subtracted; `elapsed_ns` is its pane's. */
typedef void (*sliding_leaving)(void *userdata, u32 subject, const struct tally *tally,
				const struct sliding_time *time);

/* A pane is about to leave; told before what it holds. Its time has passed for idle subjects, too. */
typedef void (*sliding_passing)(void *userdata, const struct sliding_time *time);

struct sliding_settings {
	u64 window_ns;
	size_t max_bytes; /* of panes; where more is needed the oldest go, and the window is not covered */
	sliding_leaving leaving; /* NULL: nobody asks */
	sliding_passing passing; /* NULL: likewise */
	void *userdata;
};

/* 0 or -ENOMEM; free with sliding_free(). `start_ns`: where the first collection begins. */
int sliding_new(const struct sliding_settings *settings, u64 start_ns, struct sliding **ret);
struct sliding *sliding_free(struct sliding *sliding);
DEFINE_CLEANUP(struct sliding *, sliding_free)

/* A number for a subject, below 2^31. 0 or -ENOMEM. */
int sliding_open(struct sliding *sliding, u32 *ret);

/* The subject is gone with all that the window has of it; its number may be given to another. What closed
 * ones still hold is, from the next collection on, at most about what open ones do. */
void sliding_close(struct sliding *sliding, u32 number);

/*
 * One collection: begin, any number of puts (of one subject they add up), end. It covers the time since the
 * collection before it, which is what counts as elapsed, whatever `time` says of that. sliding_end() returns
 * 0, or the first failure: -EINVAL for a time before the last one, -ENOMEM; then the window is empty and
 * begins anew at this collection's time.
 */
void sliding_begin(struct sliding *sliding, u64 now_ns, const struct sliding_time *time);
void sliding_put(struct sliding *sliding, u32 number, const struct tally *difference);
int sliding_end(struct sliding *sliding);

/* What a subject has in the window; never NULL, all zero where nothing. Valid until the next call that is not
 * const. */
const struct tally *sliding_tally(const struct sliding *sliding, u32 number);

/* Says that sliding_tally() is going to be asked for: a walk over thousands waits for memory most of all. */
void sliding_fetch(const struct sliding *sliding, u32 number);

/* What a subject has in each pane, oldest first, the open one last; of one without a sample of it all zero. For
 * a few subjects a collection: it searches each pane. */
typedef void (*sliding_part)(void *userdata, const struct tally *tally, const struct sliding_time *time);
void sliding_parts(const struct sliding *sliding, u32 number, sliding_part part, void *userdata);

/* What the window covers. `elapsed_ns` is at least the window's length once it has been covered. */
struct sliding_time sliding_time(const struct sliding *sliding);
bool sliding_covered(const struct sliding *sliding);

/* The subjects whose tally the last collection changed, coming or going, each once; closed ones may be among
 * them. */
const u32 *sliding_changed(const struct sliding *sliding, size_t *ret_n);

/* Another `max_bytes`; panes that exceed it leave at once. */
void sliding_limit(struct sliding *sliding, size_t max_bytes);

/* Memory held: panes, and all else. */
size_t sliding_bytes(const struct sliding *sliding);
size_t sliding_pane_bytes(const struct sliding *sliding);

#endif
