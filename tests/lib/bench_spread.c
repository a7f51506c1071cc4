// SPDX-License-Identifier: GPL-2.0
#include "bench_spread.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

struct bench_spread bench_spread_of(const double *values, size_t n, enum bench_better better)
{
	_cleanup_free_ double *sorted = calloc(n + 1, sizeof(*sorted));
	struct bench_spread ret = {0, NAN, NAN, NAN};
	size_t first = 0, last;

	for (size_t i = 0; sorted && i < n; i++)
		if (isfinite(values[i]))
			sorted[ret.n++] = values[i];
	if (ret.n == 0)
		return ret;
	qsort(sorted, ret.n, sizeof(*sorted), ascending);
	last = ret.n - 1;
	ret.median = (sorted[last / 2] + sorted[ret.n / 2]) / 2;
	if (ret.n >= BENCH_ROUNDS && better == BENCH_LOWER)
		last--;
	if (ret.n >= BENCH_ROUNDS && better == BENCH_HIGHER)
		first++;
	ret.low = sorted[first];
	ret.high = sorted[last];
	return ret;
}

enum bench_change bench_change_of(const struct bench_spread *a, const struct bench_spread *b,
				  enum bench_better better)
{
	bool higher = b->low > a->high, lower = b->high < a->low;

	if (a->n < BENCH_ROUNDS || b->n < BENCH_ROUNDS || better == BENCH_NEITHER)
		return BENCH_UNKNOWN;
	if ((!higher && !lower) || fabs(b->median - a->median) <= BENCH_LEAST_CHANGE * fabs(a->median))
		return BENCH_SAME;
	return higher == (better == BENCH_LOWER) ? BENCH_WORSE : BENCH_IMPROVED;
}
