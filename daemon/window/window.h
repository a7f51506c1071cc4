// SPDX-License-Identifier: GPL-2.0
/*
 * What happened lately: the differences of the last collections, held in bounded memory. Pure: it has no
 * clock.
 *
 * Collections lie end to end in time. Of a difference only the counters that moved are held, in a few bytes
 * each; a collection in which nothing happened costs WINDOW_COLLECTION_BYTES.
 *
 * Where memory runs short, old collections next to each other are added up to one, a pane: of one cgroup and
 * event that takes little more than any of them did. First those that make at most 10 s, then 60 s, then
 * 600 s; never one that is longer than it is old. So a sum covers at most twice what was asked for, or a
 * collection more. Only where nothing can be added up the oldest is dropped. From then on a pane is the
 * collection that is spoken of here.
 */
#ifndef PEBSD_WINDOW_H
#define PEBSD_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "collect/figures.h"
#include "pebsd/sample.h"

#define WINDOW_COLLECTION_BYTES 64

struct window;

/*
 * Holds at most `max_bytes` (and, while it adds up, the new pane and 32 bytes for each record in it besides),
 * and what is needed to cover the last `max_ns`; older collections are dropped.
 * `start_ns` (CLOCK_MONOTONIC) and `start` (CLOCK_REALTIME): the moment since which the first collection's
 * differences were counted. Returns 0 or -ENOMEM.
 */
int window_new(size_t max_bytes, u64 max_ns, u64 start_ns, const struct timespec *start, struct window **ret);
struct window *window_free(struct window *window);

DEFINE_CLEANUP(struct window *, window_free)

/* Another `max_bytes`: what is beyond it is added up or dropped, oldest first. */
void window_limit(struct window *window, size_t max_bytes);

/*
 * One collection: begin, a put for each cgroup and event that has a difference, end. It covers the time from
 * the collection before it to `now_ns` (CLOCK_MONOTONIC, not before the last one's). `entry` is the
 * collector's number for a cgroup, never used for another one while the window may hold it; `event` is below
 * EVENTS_MAX. window_end() returns 0, or the first failure of the three: -ENOSPC where the collection alone
 * exceeds `max_bytes`, -EINVAL for a time or event out of range, -ENOMEM. Time that is not held can't lie
 * within a window: after a failure the window is empty, and goes on from this collection's time.
 */
void window_begin(struct window *window, u64 now_ns, const struct timespec *now);
void window_put(struct window *window, u32 entry, unsigned event, const u8 *pairs, size_t size);
int window_end(struct window *window);

/* The time that the collections taken into a sum cover. */
struct window_span {
	u64 covered_ns;        /* at least what was asked for, where so much is held */
	struct timespec since; /* CLOCK_REALTIME of its first moment */
};

/* One cgroup's and event's figures over the span; valid during the call. Not 0: ends the sum. */
typedef int (*window_callback)(u32 entry, unsigned event, const struct figures *figures, void *userdata);

/*
 * Adds up the last `span_ns`: collections are taken newest first, whole, until they cover it; at least the
 * last one. Calls back once for each entry and event with a difference among them, by ascending entry, then
 * event; in memory of some bytes a difference, whatever their number. No call in between may change the
 * window. Returns 0, the callback's answer, -ENODATA where no collection is held, or -ENOMEM. `*ret_span` is
 * filled on success, before the first call.
 */
int window_each(const struct window *window, u64 span_ns, window_callback callback, void *userdata,
		struct window_span *ret_span);

/* `collection` is called at its begin, `figures` for each difference in it; they are valid during the call.
 */
struct window_visitor {
	int (*collection)(u64 begin_ns, u64 end_ns, void *userdata);
	window_callback figures;
	void *userdata;
};

/*
 * Visits the collections that window_each() would add up, oldest first, and what was put in each in its
 * order, of a pane by ascending entry, then event; needs no memory. Not 0 from either call ends it. Returns
 * 0, that answer, or -ENODATA.
 */
int window_walk(const struct window *window, u64 span_ns, const struct window_visitor *visitor);

/* What one cgroup had of one event: the counters that are not 0, as pairs (collect/pairs.h). */
struct window_sum {
	u32 entry;
	u32 event;
	const u8 *pairs;
	u32 size;
	bool more; /* the next one is of the same entry */
};

struct window_sums {
	struct window_span span;
	size_t n;
	struct window_sum *sums; /* by ascending entry, then event */
	struct arena pairs;      /* theirs */
};

/* The same, kept, in some bytes a counter. Returns 0, -ENODATA or -ENOMEM; free `*ret` with
 * window_sums_free(). */
int window_sum(const struct window *window, u64 span_ns, struct window_sums **ret);
struct window_sums *window_sums_free(struct window_sums *sums);

DEFINE_CLEANUP(struct window_sums *, window_sums_free)

/* Bytes and collections held. */
size_t window_bytes(const struct window *window);
size_t window_collections(const struct window *window);

#endif
