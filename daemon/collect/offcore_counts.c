// SPDX-License-Identifier: GPL-2.0
#include "collect/offcore_counts.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(struct offcore_counts) <= sizeof(struct counters),
	       "off-core counters fit into a row of a window");
_Static_assert(sizeof(struct offcore_counted) == 4 * sizeof(u64), "it has only counters");

static void add(struct offcore_counted *sum, const struct offcore_counted *addend)
{
	sum->count += addend->count;
	sum->enabled_ns += addend->enabled_ns;
	sum->running_ns += addend->running_ns;
	sum->errors += addend->errors;
}

void offcore_counts_add(struct offcore_counts *sum, const struct offcore_counts *addend)
{
	for (size_t pmu = 0; pmu < OFFCORE_PMUS_MAX; pmu++)
		for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
			add(&sum->of[pmu][kind], &addend->of[pmu][kind]);
}

bool offcore_scaled(const struct offcore_counted *counted, u64 *ret)
{
	if (counted->errors || counted->running_ns == 0)
		return false;
	/* Exact if nothing has to be estimated; a double would round above 2^53. */
	if (counted->running_ns >= counted->enabled_ns)
		*ret = counted->count;
	else
		*ret = (u64)roundl((long double)counted->count * (long double)counted->enabled_ns /
				   (long double)counted->running_ns);
	return true;
}

bool offcore_running_ratio(const struct offcore_counted of[OFFCORE_KINDS], double *ret)
{
	bool any = false;

	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++) {
		const struct offcore_counted *counted = &of[kind];
		double ratio;

		if (counted->enabled_ns == 0)
			continue;
		ratio = counted->running_ns < counted->enabled_ns
				? (double)counted->running_ns / (double)counted->enabled_ns
				: 1;
		if (!any || ratio < *ret)
			*ret = ratio;
		any = true;
	}
	return any;
}

bool offcore_latency_mean(const struct offcore_counted of[OFFCORE_KINDS], double *ret)
{
	u64 cycles, requests;

	if (!offcore_scaled(&of[OFFCORE_OUTSTANDING], &cycles) ||
	    !offcore_scaled(&of[OFFCORE_REQUESTS], &requests) || requests == 0)
		return false;
	*ret = (double)cycles / (double)requests;
	return true;
}

void offcore_pack(const struct offcore_counts *counts, struct counters *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, counts, sizeof(*counts));
}

void offcore_unpack(const struct counters *row, struct offcore_counts *ret)
{
	memcpy(ret, row, sizeof(*ret));
}

void offcore_scaled_add(struct offcore_scaled_counts *counts, const struct offcore_counts *delta)
{
	offcore_counts_add(&counts->waiting, delta);
	offcore_counts_add(&counts->all, delta);
	for (size_t pmu = 0; pmu < OFFCORE_PMUS_MAX; pmu++)
		for (size_t kind = 0; kind < OFFCORE_KINDS; kind++) {
			struct offcore_counted *waiting = &counts->waiting.of[pmu][kind];
			u64 scaled;

			if (!offcore_scaled(waiting, &scaled))
				continue;
			counts->scaled[pmu][kind] += scaled;
			*waiting = (struct offcore_counted){0};
		}
}

bool offcore_scaled_get(const struct offcore_scaled_counts *counts, size_t pmu, enum offcore_kind kind,
			u64 *ret)
{
	const struct offcore_counted *all = &counts->all.of[pmu][kind];

	if (all->errors || all->running_ns == 0)
		return false;
	*ret = counts->scaled[pmu][kind];
	return true;
}
