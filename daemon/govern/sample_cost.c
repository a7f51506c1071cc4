// SPDX-License-Identifier: GPL-2.0
#include "govern/sample_cost.h"

#include <math.h>

#define NS_A_SECOND 1e9

/* Halvings of a span of rates: to a millionth of a millionth of it. */
#define HALVINGS 40

static bool is_number(double value)
{
	return isfinite(value) && value >= 0;
}

bool sample_cost_usable(const struct sample_cost *cost)
{
	return is_number(cost->program_ns) && is_number(cost->dense_ns) && cost->dense_ns > 0 &&
	       is_number(cost->dense_per_second) && is_number(cost->sparse_ns) &&
	       is_number(cost->sparse_per_second);
}

/* How many times as far apart the rates are; 1: they are not, or not known. */
static double span_of(const struct sample_cost *cost)
{
	return cost->sparse_per_second > 0 && cost->dense_per_second > cost->sparse_per_second
		       ? cost->dense_per_second / cost->sparse_per_second
		       : 1;
}

/* At most as many times the dense one as the rates are apart, or fewer samples would cost more. Where one
 * rate was timed (the kernel's limit was low) the longer one counts for all. */
static double sparse_of(const struct sample_cost *cost)
{
	const double span = span_of(cost);
	const double sparse = fmax(cost->sparse_ns, cost->dense_ns);

	return span > 1 ? fmin(sparse, cost->dense_ns * span) : sparse;
}

double sample_cost_interrupt_ns(const struct sample_cost *cost, double per_second)
{
	const double span = span_of(cost);
	const double sparse = sparse_of(cost);

	if (span <= 1 || per_second <= cost->sparse_per_second)
		return sparse;
	if (per_second >= cost->dense_per_second)
		return cost->dense_ns;
	return sparse * pow(cost->dense_ns / sparse, log(per_second / cost->sparse_per_second) / log(span));
}

double sample_cost_share(const struct sample_cost *cost, double per_second)
{
	return per_second * (sample_cost_interrupt_ns(cost, per_second) + cost->program_ns) / NS_A_SECOND;
}

double sample_cost_rate(const struct sample_cost *cost, double share)
{
	/* If all were as long as the longest, or as short as the shortest. */
	double least = share * NS_A_SECOND / (sparse_of(cost) + cost->program_ns);
	double most = share * NS_A_SECOND / (cost->dense_ns + cost->program_ns);

	if (span_of(cost) <= 1)
		return least;
	for (int i = 0; i < HALVINGS && least < most; i++) {
		const double middle = least + (most - least) / 2;

		if (sample_cost_share(cost, middle) > share)
			most = middle;
		else
			least = middle;
	}
	return least;
}
