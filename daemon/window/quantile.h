// SPDX-License-Identifier: GPL-2.0
/* Quantiles of a fine histogram, with the bounds that its buckets leave open. Pure. */
#ifndef PEBSD_QUANTILE_H
#define PEBSD_QUANTILE_H

#include "collect/figures.h"

struct quantile {
	double value; /* cycles, interpolated within the bucket as Prometheus does */
	u32 low;      /* cycles, exclusive: the quantile lies above it */
	u32 high;     /* cycles, inclusive: and not above it; 2^32 - 1 in the overflow bucket */
};

/*
 * The `q` quantile, 0 < q <= 1: the bucket that holds the ceil(q x n)-th smallest of the n latencies. In the
 * overflow bucket `value` is its lower edge. Returns 0, or -ENODATA where no sample has a latency.
 */
int quantile_of(const u64 histogram[FINE_BUCKETS], double q, struct quantile *ret);

#endif
