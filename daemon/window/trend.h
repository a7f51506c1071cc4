// SPDX-License-Identifier: GPL-2.0
/*
 * How each cgroup's samples and mean latency went in the last hour, collection by collection. Pure: it has no
 * clock.
 *
 * Collections lie in pages of TREND_PAGE. In a page an entry and event that had a sample takes
 * TREND_COLUMN_BYTES, others nothing: one that is busy for an hour at a collection a second takes 16 KB.
 * Where memory runs short the oldest page goes: of thousands of busy cgroups it reaches less far back.
 */
#ifndef PEBSD_TREND_H
#define PEBSD_TREND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

#define TREND_PAGE 60

/* A page's collections of 4 bytes each, the numbers of entry and event; and up to 16 in the page's index. */
#define TREND_COLUMN_BYTES (TREND_PAGE * 4 + 8 + 16)

#define TREND_SPAN_NS (3600 * NSEC_PER_SEC)

/* The most that the daemon gives it: 1,000 cgroups and events that are busy all the time have an hour at a
 * collection a second. */
#define TREND_BYTES ((size_t)16 << 20)

struct trend;

/* Holds the last `span_ns`, and whatever page that begins in, in at most `max_bytes` but for a page under
 * way. `start_ns` (CLOCK_MONOTONIC): the first collection covers the time from then. 0 or -ENOMEM. */
int trend_new(size_t max_bytes, u64 span_ns, u64 start_ns, struct trend **ret);
struct trend *trend_free(struct trend *trend);
DEFINE_CLEANUP(struct trend *, trend_free)

/*
 * One collection: begin, a put for each difference (collect/pairs.h), of which an entry and event may have
 * several. `entry` and `event`, below 64, as window_put() has them. What there is no memory for is left out:
 * trend_put() returns -ENOMEM then, and -ENOSPC where the page under way is all that there is room for.
 */
int trend_begin(struct trend *trend, u64 now_ns);
int trend_put(struct trend *trend, u32 entry, unsigned event, const u8 *pairs, size_t size);

/* A part of the time that is asked for. */
struct trend_bin {
	bool covered;   /* some collection ended in it */
	double samples; /* of all entries added */
	double latency; /* cycles: sum over the samples that have one, as good as the mean that is held */
	double latency_samples;
};

/* Bins end to end: the last one holds the last collection, and is under way. */
struct trend_bins {
	u64 bin_ns;             /* above 0 */
	size_t n;               /* 1 to TREND_BINS_MAX */
	struct trend_bin *bins; /* n; all zero before trend_cover() */
};

#define TREND_BINS_MAX 3600

/* Says which bins are covered. */
void trend_cover(const struct trend *trend, struct trend_bins *bins);

/* Adds what an entry and event had. */
void trend_add(const struct trend *trend, u32 entry, unsigned event, struct trend_bins *bins);

/* Memory held. */
size_t trend_bytes(const struct trend *trend);

/*
 * A count in 16 bits: exact below 4,096, above rounded to one of 4,096 steps, at most 1/4096 off; what is
 * beyond 2^42 stays there.
 */
u16 trend_pack(u64 count);
u64 trend_unpack(u16 packed);

#endif
