// SPDX-License-Identifier: GPL-2.0
#include "collect/offcore_counters.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(struct offcore_counters) <= sizeof(struct counters),
	       "off-core counters fit into a row of a window");
_Static_assert(sizeof(struct offcore_counter) == 4 * sizeof(u64), "it has only counters");

static void add(struct offcore_counter *sum, const struct offcore_counter *addend)
{
	sum->count += addend->count;
	sum->enabled_ns += addend->enabled_ns;
	sum->running_ns += addend->running_ns;
	sum->errors += addend->errors;
}

void offcore_counters_add(struct offcore_counters *sum, const struct offcore_counters *addend)
{
	for (size_t pmu = 0; pmu < OFFCORE_PMUS_MAX; pmu++)
		for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
			add(&sum->of[pmu][kind], &addend->of[pmu][kind]);
}

bool offcore_scaled(const struct offcore_counter *figure, u64 *ret)
{
	if (figure->errors || figure->running_ns == 0)
		return false;
	/* Exact if nothing has to be estimated; a double would round above 2^53. */
	if (figure->running_ns >= figure->enabled_ns)
		*ret = figure->count;
	else
		*ret = (u64)roundl((long double)figure->count * (long double)figure->enabled_ns /
				   (long double)figure->running_ns);
	return true;
}

bool offcore_running_ratio(const struct offcore_counter counters[OFFCORE_KINDS], double *ret)
{
	bool any = false;

	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++) {
		const struct offcore_counter *figure = &counters[kind];
		double ratio;

		if (figure->enabled_ns == 0)
			continue;
		ratio = figure->running_ns < figure->enabled_ns
				? (double)figure->running_ns / (double)figure->enabled_ns
				: 1;
		if (!any || ratio < *ret)
			*ret = ratio;
		any = true;
	}
	return any;
}

bool offcore_latency_mean(const struct offcore_counter counters[OFFCORE_KINDS], double *ret)
{
	u64 cycles, requests;

	if (!offcore_scaled(&counters[OFFCORE_OUTSTANDING], &cycles) ||
	    !offcore_scaled(&counters[OFFCORE_REQUESTS], &requests) || requests == 0)
		return false;
	*ret = (double)cycles / (double)requests;
	return true;
}

void offcore_pack(const struct offcore_counters *counters, struct counters *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, counters, sizeof(*counters));
}

void offcore_unpack(const struct counters *row, struct offcore_counters *ret)
{
	memcpy(ret, row, sizeof(*ret));
}

void offcore_scaled_add(struct offcore_scaled_counters *counters, const struct offcore_counters *delta)
{
	offcore_counters_add(&counters->waiting, delta);
	offcore_counters_add(&counters->all, delta);
	for (size_t pmu = 0; pmu < OFFCORE_PMUS_MAX; pmu++)
		for (size_t kind = 0; kind < OFFCORE_KINDS; kind++) {
			struct offcore_counter *waiting = &counters->waiting.of[pmu][kind];
			u64 scaled;

			if (!offcore_scaled(waiting, &scaled))
				continue;
			counters->scaled[pmu][kind] += scaled;
			*waiting = (struct offcore_counter){0};
		}
}

bool offcore_scaled_get(const struct offcore_scaled_counters *counters, size_t pmu, enum offcore_kind kind,
			u64 *ret)
{
	const struct offcore_counter *all = &counters->all.of[pmu][kind];

	if (all->errors || all->running_ns == 0)
		return false;
	*ret = counters->scaled[pmu][kind];
	return true;
}
