// SPDX-License-Identifier: GPL-2.0
#include "calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_A_SECOND 1e9

#define BOUND_NS     2500.0
#define BOUND_MIN_NS 1000.0
#define BOUND_MAX_NS 25000.0

static int compare(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts. */
static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void calibrate_judge(const struct calibrate_round *rounds, size_t n, struct calibrate_result *ret)
{
	double costs[CALIBRATE_ROUNDS], distances[CALIBRATE_ROUNDS];
	size_t usable = 0, positive = 0;
	double middle;

	*ret = (struct calibrate_result){0};
	for (size_t i = 0; i < n && usable < CALIBRATE_ROUNDS; i++) {
		const double cost = (rounds[i].with_ns - rounds[i].without_ns) / rounds[i].samples;

		if (!(rounds[i].samples > 0) || !isfinite(cost))
			continue;
		costs[usable++] = cost;
		positive += cost > 0;
	}
	if (usable < CALIBRATE_ROUNDS / 2) {
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "the event sampled its own work in %zu of %d rounds alone", usable,
			       CALIBRATE_ROUNDS);
		return;
	}
	middle = median(costs, usable);
	for (size_t i = 0; i < usable; i++)
		distances[i] = fabs(costs[i] - middle);
	if (positive * 4 < usable * 3 || middle <= 0 || median(distances, usable) > middle / 2) {
		(void)snprintf(ret->reason, sizeof(ret->reason),
			       "what a sample took differed too much from one round to the next");
		return;
	}
	ret->known = true;
	ret->interrupt_ns = middle;
}

double calibrate_bound_ns(u64 max_rate, u64 percent)
{
	if (max_rate == 0 || percent == 0 || percent >= 100)
		return BOUND_NS;
	return fmin(fmax(NS_A_SECOND / (double)max_rate * (double)percent / 100, BOUND_MIN_NS), BOUND_MAX_NS);
}
