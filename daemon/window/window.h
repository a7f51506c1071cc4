// SPDX-License-Identifier: GPL-2.0
/*
 * The window that clients ask for: the deltas of the last collections, in bounded memory. Rules have windows of
 * their own (sliding.h). Pure: no clock.
 *
 * Collections follow each other without gaps. A delta is stored as the counters that moved, in a few
 * bytes each. A collection without any delta costs WINDOW_COLLECTION_BYTES.
 *
 * When memory runs short, consecutive old collections are merged to one. For one cgroup and event, the merged
 * collection takes little more memory than one of its parts did. It has a length of at most 10 s, later 60 s, then
 * 600 s, and is never longer than it is old. So a sum covers at most twice the requested time, or one collection more.
 * The oldest collection is dropped only if nothing can be merged. Below, a collection may also be a merged one.
 */
#ifndef PEBSD_WINDOW_H
#define PEBSD_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "collect/counters.h"
#include "pebsd/sample.h"

#define WINDOW_COLLECTION_BYTES 64

struct window;

/*
 * Stores at most `max_bytes`, and not more than needed to cover the last `max_ns`: older collections are
 * dropped. During a merge it also needs memory for the result and up to 32 bytes for each merged record.
 * `start_ns` (CLOCK_MONOTONIC) and `start` (CLOCK_REALTIME) are the time since which the deltas of the
 * first collection were counted. Returns 0 or -ENOMEM.
 */
int window_new(size_t max_bytes, u64 max_ns, u64 start_ns, const struct timespec *start, struct window **ret);
struct window *window_free(struct window *window);

DEFINE_CLEANUP(struct window *, window_free)

/* Sets another `max_bytes`. Merges or drops the excess, oldest first. */
void window_limit(struct window *window, size_t max_bytes);

/*
 * One collection: begin, a put for each cgroup and event with a delta, end. It covers the time from the
 * previous collection to `now_ns` (CLOCK_MONOTONIC, not before that of the previous one). `entry` is the
 * number of a cgroup's entry in the totals; it must not be reused while the window may contain it. `event` is below
 * EVENTS_MAX.
 *
 * window_end() returns 0 or the first failure of the three functions: -ENOSPC if the collection alone exceeds
 * `max_bytes`, -EINVAL for a time or event out of range, -ENOMEM. A window must not have gaps, so after a
 * failure it is empty, and continues from this collection's time.
 */
void window_begin(struct window *window, u64 now_ns, const struct timespec *now);
void window_put(struct window *window, u32 entry, unsigned event, const u8 *packed, size_t size);
int window_end(struct window *window);

/* The time that the collections in a sum cover. */
struct window_span {
	u64 covered_ns;        /* at least the requested time, if the window has that much */
	struct timespec since; /* CLOCK_REALTIME at the start of the covered time */
};

/*
 * Receives the counters of one cgroup and event over the span; valid during the call. A return value other
 * than 0 ends the sum.
 */
typedef int (*window_callback)(u32 entry, unsigned event, const struct counters *counters, void *userdata);

/*
 * Sums up the last `span_ns`: takes whole collections, newest first, until they cover it, and at least the
 * last one. Calls back once for each pair of entry and event that has a delta in these collections, by
 * ascending entry, then event. It needs some bytes of memory for each delta. The callback must not
 * change the window. Returns 0, the callback's return value, -ENOMEM, or -ENODATA if the window has no
 * collection. On success sets *ret_span, before the first callback.
 */
int window_each(const struct window *window, u64 span_ns, window_callback callback, void *userdata,
		struct window_span *ret_span);

/*
 * `collection` is called at the start of each collection, then `counters` or `packed` for each delta in it.
 * `packed` gets the delta in packed form (collect/packed.h). `counters` and `packed` may be NULL; if both are
 * set, only `packed` is called. Arguments are valid during the call.
 */
struct window_visitor {
	int (*collection)(u64 begin_ns, u64 end_ns, void *userdata);
	window_callback counters;
	void *userdata;
	int (*packed)(u32 entry, unsigned event, const u8 *packed, size_t size, void *userdata);
};

/*
 * Visits the collections that window_each() would sum up, oldest first. The deltas of a collection come
 * in the order in which they were put; those of a merged one by ascending entry, then event. Allocates no memory. A
 * return value other than 0 from a callback ends the walk. Returns 0, that value, or -ENODATA.
 */
int window_walk(const struct window *window, u64 span_ns, const struct window_visitor *visitor);

/* The counters of one cgroup and event that are not 0, as packed counters (collect/packed.h). */
struct window_sum {
	u32 entry;
	u32 event;
	const u8 *packed;
	u32 size;
	bool more; /* the next one belongs to the same entry */
};

struct window_sums {
	struct window_span span;
	size_t n;
	struct window_sum *sums; /* by ascending entry, then event */
	struct arena packed;     /* memory of all packed counters */
};

/*
 * The sums of window_each() as a result, in some bytes per counter. Returns 0, -ENODATA or -ENOMEM. Free
 * `*ret` with window_sums_free().
 */
int window_sum(const struct window *window, u64 span_ns, struct window_sums **ret);
struct window_sums *window_sums_free(struct window_sums *sums);

DEFINE_CLEANUP(struct window_sums *, window_sums_free)

/* Bytes used, and number of collections. */
size_t window_bytes(const struct window *window);
size_t window_collections(const struct window *window);

#endif
