// SPDX-License-Identifier: GPL-2.0
#include "collect/read_offcore.h"

#include <errno.h>
#include <stdlib.h>

static u64 load(const u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/*
 * Call it before the counts are read. The writer writes `settles` last, so the counts are then at least as
 * recent as the returned value.
 */
static u64 settles_of(const struct kernel_offcore *offcore, u32 slot)
{
	u64 settles = 0;
	u32 pmu;

	for (u32 cpu = 0; cpu < kernel_offcore_cpus(offcore); cpu++)
		if (kernel_offcore_pmu(offcore, cpu, &pmu))
			settles += __atomic_load_n(&kernel_offcore_record(offcore, cpu, slot)->settles,
						   __ATOMIC_ACQUIRE);
	return settles;
}

static void add_record(struct offcore_figure sums[OFFCORE_KINDS], const struct offcore_record *record)
{
	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++) {
		sums[kind].count += load(&record->counts[kind].count);
		sums[kind].enabled_ns += load(&record->counts[kind].enabled_ns);
		sums[kind].running_ns += load(&record->counts[kind].running_ns);
		sums[kind].errors += load(&record->errors[kind]);
	}
}

static void subtract(const struct offcore_figures *now, const struct offcore_figures *before,
		     struct offcore_figures *ret)
{
	for (size_t pmu = 0; pmu < OFFCORE_PMUS_MAX; pmu++)
		for (size_t kind = 0; kind < OFFCORE_KINDS; kind++) {
			const struct offcore_figure *a = &now->of[pmu][kind], *b = &before->of[pmu][kind];

			ret->of[pmu][kind] = (struct offcore_figure){
				.count = a->count - b->count,
				.enabled_ns = a->enabled_ns - b->enabled_ns,
				.running_ns = a->running_ns - b->running_ns,
				.errors = a->errors - b->errors,
			};
		}
}

bool read_offcore_moved(const struct kernel_offcore *offcore, u32 slot, const struct offcore_base *base)
{
	return settles_of(offcore, slot) != (base ? base->settles : 0);
}

int read_offcore(const struct kernel_offcore *offcore, u32 slot, struct offcore_base **base,
		 struct offcore_figures *ret)
{
	u64 settles = settles_of(offcore, slot);
	struct offcore_figures now = {0};
	u32 pmu;

	if (!*base)
		*base = calloc(1, sizeof(**base));
	if (!*base)
		return -ENOMEM;
	for (u32 cpu = 0; cpu < kernel_offcore_cpus(offcore); cpu++)
		if (kernel_offcore_pmu(offcore, cpu, &pmu) && pmu < OFFCORE_PMUS_MAX)
			add_record(now.of[pmu], kernel_offcore_record(offcore, cpu, slot));
	subtract(&now, &(*base)->sum, ret);
	(*base)->sum = now;
	(*base)->settles = settles;
	return 0;
}
