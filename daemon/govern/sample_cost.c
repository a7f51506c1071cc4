// SPDX-License-Identifier: GPL-2.0
#include "govern/sample_cost.h"

#include <math.h>

#define NS_A_SECOND 1e9

/* Number of bisections of a range of rates: the result is exact to 1e-12 of the range. */
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

/* Returns the ratio of the two rates; 1: a rate is unknown, or the dense one is not higher. */
static double span_of(const struct sample_cost *cost)
{
	return cost->sparse_per_second > 0 && cost->dense_per_second > cost->sparse_per_second
		       ? cost->dense_per_second / cost->sparse_per_second
		       : 1;
}

/*
 * The sparse cost is limited to the dense cost times the ratio of the rates; else fewer samples would cost
 * more in total. If only one rate was timed (the kernel's limit was low), the longer time counts for all
 * rates.
 */
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
	/* The bounds: all samples take the longest time, or all take the shortest. */
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
