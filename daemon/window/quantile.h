// SPDX-License-Identifier: GPL-2.0
/*
 * Quantiles of a fine histogram, with the edges of their buckets. These edges say nothing about confidence. Pure
 * function.
 */
#ifndef PEBSD_QUANTILE_H
#define PEBSD_QUANTILE_H

#include "collect/counters.h"

struct quantile {
	double value; /* cycles, interpolated within the bucket as Prometheus does */
	u32 low;      /* cycles, exclusive: the quantile lies above this */
	u32 high;     /* cycles, inclusive: the quantile is not above it; 2^32 - 1 in the overflow bucket */
};

/*
 * The `q` quantile, 0 < q <= 1: lies in the bucket of the ceil(q x n)-th smallest of the n latencies. In the
 * overflow bucket `value` is the lower edge. Returns 0, or -ENODATA if no sample has a latency.
 */
int quantile_of(const u64 histogram[FINE_BUCKETS], double q, struct quantile *ret);

#endif
