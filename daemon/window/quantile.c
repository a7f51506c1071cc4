// SPDX-License-Identifier: GPL-2.0
#include "window/quantile.h"

#include <errno.h>
#include <float.h>

int quantile_of(const u64 histogram[FINE_BUCKETS], double q, struct quantile *ret)
{
	u32 bucket = 0;
	u64 below = 0;
	u64 n = 0;
	double rank;

	for (u32 i = 0; i < FINE_BUCKETS; i++)
		n += histogram[i];
	if (n == 0)
		return -ENODATA;

	/* 0.07 x 100 is a little above 7 in binary: without the slack the rank would be the 8th. */
	rank = q * (double)n;
	rank -= rank * 4 * DBL_EPSILON;
	while (bucket < FINE_OVERFLOW && (double)(below + histogram[bucket]) < rank)
		below += histogram[bucket++];

	ret->low = histogram_fine_lower(bucket);
	ret->high = histogram_fine_upper(bucket);
	ret->value = ret->low;
	if (bucket < FINE_OVERFLOW)
		ret->value += (ret->high - ret->low) * ((rank - (double)below) / (double)histogram[bucket]);
	return 0;
}
