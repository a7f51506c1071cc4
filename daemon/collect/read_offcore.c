// SPDX-License-Identifier: GPL-2.0
#include "collect/read_offcore.h"

#include <errno.h>
#include <stdlib.h>

static u64 load(const u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Returns the first CPU of the set from `cpu` on, or at least `n` if there is none. */
static u32 next_cpu(const u64 *cpus, u32 n, u32 cpu)
{
	for (; cpu < n; cpu = (cpu / 64 + 1) * 64) {
		u64 bits = cpus[cpu / 64] >> (cpu % 64);

		if (bits)
			return cpu + (u32)__builtin_ctzll(bits);
	}
	return cpu;
}

/*
 * Returns the sum of the `settles` of the CPUs in the set, and removes CPUs whose record is empty. Call it before
 * you read the counts. The writer writes `settles` last, so these counts are then at least as recent as the sum.
 */
static u64 settles_of(const struct kernel_offcore *offcore, u32 slot, u64 *cpus)
{
	const u32 n = kernel_offcore_cpus(offcore);
	u64 settles = 0;

	for (u32 cpu = next_cpu(cpus, n, 0); cpu < n; cpu = next_cpu(cpus, n, cpu + 1)) {
		u64 of_cpu = 0;
		u32 pmu;

		if (kernel_offcore_pmu(offcore, cpu, &pmu))
			of_cpu = __atomic_load_n(&kernel_offcore_record(offcore, cpu, slot)->settles,
						 __ATOMIC_ACQUIRE);
		if (of_cpu == 0)
			cpus[cpu / 64] &= ~(1ULL << (cpu % 64));
		settles += of_cpu;
	}
	return settles;
}

static void add_record(struct offcore_counted sums[OFFCORE_KINDS], const struct offcore_record *record)
{
	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++) {
		sums[kind].count += load(&record->counts[kind].count);
		sums[kind].enabled_ns += load(&record->counts[kind].enabled_ns);
		sums[kind].running_ns += load(&record->counts[kind].running_ns);
		sums[kind].errors += load(&record->errors[kind]);
	}
}

static void subtract(const struct offcore_counts *now, const struct offcore_counts *before,
		     struct offcore_counts *ret)
{
	for (size_t pmu = 0; pmu < OFFCORE_PMUS_MAX; pmu++)
		for (size_t kind = 0; kind < OFFCORE_KINDS; kind++) {
			const struct offcore_counted *a = &now->of[pmu][kind], *b = &before->of[pmu][kind];

			ret->of[pmu][kind] = (struct offcore_counted){
				.count = a->count - b->count,
				.enabled_ns = a->enabled_ns - b->enabled_ns,
				.running_ns = a->running_ns - b->running_ns,
				.errors = a->errors - b->errors,
			};
		}
}

bool read_offcore_moved(const struct kernel_offcore *offcore, u32 slot, u64 *cpus,
			const struct offcore_base *base)
{
	/*
	 * The sum only grows. It is less than that of the process before if this process could not place counters, and
	 * so knows no PMU.
	 */
	return settles_of(offcore, slot, cpus) > (base ? base->settles : 0);
}

int read_offcore(const struct kernel_offcore *offcore, u32 slot, u64 *cpus, struct offcore_base **base,
		 struct offcore_counts *ret)
{
	const u32 n = kernel_offcore_cpus(offcore);
	u64 settles = settles_of(offcore, slot, cpus);
	struct offcore_counts now = {0};
	u32 pmu;

	if (!*base)
		*base = calloc(1, sizeof(**base));
	if (!*base)
		return -ENOMEM;
	for (u32 cpu = next_cpu(cpus, n, 0); cpu < n; cpu = next_cpu(cpus, n, cpu + 1))
		if (kernel_offcore_pmu(offcore, cpu, &pmu) && pmu < OFFCORE_PMUS_MAX)
			add_record(now.of[pmu], kernel_offcore_record(offcore, cpu, slot));
	subtract(&now, &(*base)->sum, ret);
	(*base)->sum = now;
	(*base)->settles = settles;
	return 0;
}
