// SPDX-License-Identifier: GPL-2.0
/*
 * The trend of each cgroup: its samples and mean latency in the last hour, collection by collection. The number of
 * samples is exact below 4,096, then has an error of at most 1/4096 up to 2^42, the maximum. Pure: no clock.
 *
 * Collections are stored in pages of TREND_PAGE. An entry and event with a sample takes TREND_COLUMN_BYTES in
 * a page, others take nothing. A cgroup that is busy for an hour at a collection per second takes 16 KB. When
 * memory runs short, the oldest page is dropped, so with thousands of busy cgroups the trend reaches less far
 * back.
 */
#ifndef PEBSD_TREND_H
#define PEBSD_TREND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "collect/deltas.h"
#include "pebsd/types.h"

#define TREND_PAGE 60

/*
 * 4 bytes for each collection of a page, the numbers of entry and event, and up to 16 bytes in the page's index.
 */
#define TREND_COLUMN_BYTES (TREND_PAGE * 4 + 8 + 16)

#define TREND_SPAN_NS (3600 * NSEC_PER_SEC)

/*
 * Limit in the daemon: enough for an hour at a collection per second if 1,000 pairs of a cgroup and an event
 * are busy all the time.
 */
#define TREND_BYTES ((size_t)16 << 20)

struct trend;

/*
 * Stores the last `span_ns` and the rest of the page in which this span begins, in at most `max_bytes`. The
 * newest page may exceed this limit. `start_ns` (CLOCK_MONOTONIC): the first collection covers the time from
 * then. Returns 0 or -ENOMEM.
 */
int trend_new(size_t max_bytes, u64 span_ns, u64 start_ns, struct trend **ret);
struct trend *trend_free(struct trend *trend);
DEFINE_CLEANUP(struct trend *, trend_free)

/*
 * One collection: begin, then a put for each delta (collect/packed.h). An entry and event may have
 * several. `entry` and `event` (below 64) are those of window_put(). Both return 0 or -errno. After -ENOMEM of
 * trend_begin(), put nothing. If trend_put() fails, the delta is omitted: it returns -ENOMEM, -ENOSPC if the
 * newest page alone takes all of `max_bytes`, or -EINVAL before the first collection.
 */
int trend_begin(struct trend *trend, u64 now_ns);
int trend_put(struct trend *trend, u32 entry, unsigned event, const u8 *packed, size_t size);

/*
 * One collection with all its deltas. A delta that cannot be put is omitted, the others are put.
 * Returns 0 or -errno of a failure, -ENOSPC only if there was no other.
 */
int trend_collect(struct trend *trend, u64 now_ns, const struct delta *list, size_t n);

/*
 * After trend_begin(): the collection is of the time after `start_ns` up to and including `end_ns` (within
 * INT64_MAX / 2 of 0, start < end), of which `covered_ns` was collected. Only bins with an `end_ns` use this. Returns
 * 0, -ENOMEM, or -EINVAL before the first collection.
 */
int trend_stretch(struct trend *trend, s64 start_ns, s64 end_ns, u64 covered_ns);

/* A part of the requested time. */
struct trend_bin {
	bool covered;      /* a collection ended in the bin; with `end_ns`: `covered_ns` is above 0 */
	double covered_ns; /* only with `end_ns`: collected time in the bin */
	double samples;    /* of all entries that were added */
	/*
	 * The mean latency is `latency` / `latency_samples`, in cycles. A collection has its mean as often as it has
	 * samples, even if not all of them have a latency.
	 */
	double latency, latency_samples;
};

/*
 * Bins without gaps. Without `end_ns`, a collection is in the bin in which it ended, and the last bin contains the last
 * collection, and is not complete yet. With `end_ns`, the last bin ends then, and a collection that reaches into
 * several bins is divided among them by its time in each.
 */
struct trend_bins {
	u64 bin_ns;             /* above 0 */
	u64 end_ns;             /* at most INT64_MAX / 2; 0: none */
	size_t n;               /* 1 to TREND_BINS_MAX */
	struct trend_bin *bins; /* array of n, all zero before trend_cover() */
};

#define TREND_BINS_MAX 3600

/* Sets `covered` of the bins. */
void trend_cover(const struct trend *trend, struct trend_bins *bins);

/* Adds the samples of these entries for an event. Entries that are added together take less time. */
void trend_add(const struct trend *trend, const u32 *entries, size_t n, unsigned event,
	       struct trend_bins *bins);

/* Memory used. */
size_t trend_bytes(const struct trend *trend);

#endif
