// SPDX-License-Identifier: GPL-2.0
/*
 * The samples of a cgroup in the window that a reader requests, and the bounds of their figures. The bounds are
 * those that a rule on the same window would have (estimate.h): they allow for samples that come in bursts. Pure.
 */
#ifndef PEBSD_WINDOW_SAMPLES_H
#define PEBSD_WINDOW_SAMPLES_H

#include "base/cleanup.h"
#include "estimate/bursts.h"
#include "estimate/estimate.h"
#include "pebsd/sample.h"
#include "window/window.h"

/* Takes 350 KB. */
struct window_samples {
	size_t n_parts;
	struct tally sums[EVENTS_MAX];
	struct measured_part parts[EVENTS_MAX][BURSTS_PARTS_MAX]; /* in the order of time */
};

/*
 * Sums up the last `span_ns` of the window, as window_each() does, for the cgroups of `entries` (their numbers in the
 * totals) together. Sorts `entries`. Returns 0, or -ENODATA if the span has fewer than BURSTS_COLLECTIONS_MIN
 * collections: then nothing is known about bursts.
 */
int window_samples_of(const struct window *window, u64 span_ns, u32 *entries, size_t n_entries,
		      struct window_samples *ret);

/* A cgroup, or a sum of cgroups. */
struct window_row {
	const u32 *entries; /* NULL: all cgroups together */
	size_t n;
};

/* The number of samples of some events, and their weight, for many rows at once. */
struct window_counts;

/*
 * Sums up the events in the bit mask `events` for each row, as window_samples_of() does, but in one pass over the
 * window. At most one row has all cgroups. Needs 24 bytes for each row, event and part. Returns 0, -ENODATA as
 * window_samples_of(), or -ENOMEM.
 */
int window_counts_of(const struct window *window, u64 span_ns, unsigned events, const struct window_row *rows,
		     size_t n, struct window_counts **ret);
struct window_counts *window_counts_free(struct window_counts *counts);
DEFINE_CLEANUP(struct window_counts *, window_counts_free)

/*
 * Gets one row. `ret` must be all zero at first, and may be used for the next row. It has no sums of the other events,
 * and only samples and weights.
 */
void window_counts_row(const struct window_counts *counts, size_t row, struct window_samples *ret);

/*
 * Computes quantile `q` of an event's latencies, or the share of a source among its samples, and the bounds at
 * `confidence`. `ret->known` is false if there is no such sample. `ret->effect` is INFINITY if the samples came
 * in too few bursts: then there are no bounds.
 */
void window_samples_quantile(const struct window_samples *samples, unsigned event, double q,
			     double confidence, struct estimate *ret);
void window_samples_share(const struct window_samples *samples, unsigned event, u32 source, double confidence,
			  struct estimate *ret);

/* The same for any quantile or share. */
void window_samples_metric(const struct window_samples *samples, unsigned event, const struct metric *metric,
			   double confidence, struct estimate *ret);

#endif
