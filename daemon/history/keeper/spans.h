// SPDX-License-Identifier: GPL-2.0
/*
 * Plans what the keeper stores: which spans it adds up to a longer one, which it drops, and which it reads
 * for a question. Pure functions over a list of all stored spans.
 *
 * Spans have four lengths ("tiers"). A span of one tier is made from spans of the tier below (its children)
 * that follow each other without a gap in the same run, and whose middle is in the same window of the clock.
 * Children stay until they are dropped, so that a moment may be stored in several tiers.
 */
#ifndef PEBSD_HISTORY_SPANS_H
#define PEBSD_HISTORY_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

#define SPAN_TIERS 4

/*
 * Maximum number of spans, with 64 bytes of memory each. Full tiers have about 4,000 in 14 days. More exist
 * if pebsd was restarted or its clock was set thousands of times.
 */
#define SPANS_MAX 16384

/* Maximum number of children of a span. A span of 600 s has 10 of 60 s. Shorter panes can be more. */
#define SPAN_CHILDREN_MAX 64

/* The length of a span in a tier, and how much recorded time the tier keeps (0: until `age_max_s`), in seconds. */
struct span_tier {
	u32 seconds;
	u32 kept_s;
	u32 share; /* of the space, in 20ths */
};

extern const struct span_tier span_tiers[SPAN_TIERS];

struct span {
	u64 id; /* ascending in the order in which spans were stored */
	u64 start_us;
	u64 end_us;
	u64 covered_ns;
	u64 run;
	u64 parent; /* id of the span that it was added to; 0: none yet */
	u64 bytes;  /* of its rows */
	u32 tier;
};

struct spans {
	struct span *list; /* by ascending id */
	size_t n;
	size_t room;
};

/* Adds a span with a higher id than all others. Returns 0 or -ENOMEM. */
int spans_add(struct spans *spans, const struct span *span);
void spans_remove(struct spans *spans, size_t index);
void spans_done(struct spans *spans);

/* Returns the index of the span with this id, or -1. */
ssize_t spans_find(const struct spans *spans, u64 id);

/*
 * Finds spans that are due to be added up to one of the next tier: the first ones that no later span can
 * join. Returns their number, and their indexes by ascending start in `ret`; 0: none are due. One alone may
 * be due.
 */
size_t spans_to_merge(const struct spans *spans, size_t ret[static SPAN_CHILDREN_MAX]);

struct spans_limits {
	u64 age_max_s;
	u64 used;     /* bytes in use now */
	u64 used_max; /* drop spans while `used` is above it */
};

enum spans_drop { SPANS_KEEP, SPANS_DROP_TIER, SPANS_DROP_AGE, SPANS_DROP_COUNT, SPANS_DROP_SIZE };

/*
 * Finds a span that is to be dropped, and says why.
 *
 * What a tier keeps is counted in recorded time, not by the clock: a clock that is wrong drops nothing.
 * `age_max_s` is by the clock, but only after it has run for an hour of recorded time without a step
 * (spans_clock_is_trusted()). If space is short, the oldest span of the tier that is the most above its share
 * of the space goes first.
 */
enum spans_drop spans_to_drop(const struct spans *spans, const struct spans_limits *limits, size_t *ret);

bool spans_clock_is_trusted(const struct spans *spans);

/* A span that is read for a question, and the bin that it is added to. */
struct span_use {
	size_t index;
	u32 bin;
};

struct span_question {
	u64 since_us;
	u64 until_us;
	u32 bins;
	u32 least_seconds;
};

/*
 * Selects the spans that together are the range (since, until], each moment once, by ascending bin, then start:
 *   - A long span is selected instead of its children if it lies inside one bin.
 *   - If its children were dropped, a long span belongs to the bin of the middle of its last pane.
 *   - If the range lies inside such a span, the span is selected, so that a short range of long ago has an answer.
 *   - If all this selects nothing, the shortest span that contains `until_us` belongs to the last bin. This
 *     happens if the range contains the edge of two long spans, but the middle of the last pane of neither.
 *   - Spans of tiers shorter than `least_seconds` are not selected.
 *
 * The caller frees `*ret`. Returns 0 or -ENOMEM.
 */
int spans_cover(const struct spans *spans, const struct span_question *question, struct span_use **ret,
		size_t *ret_n);

#endif
