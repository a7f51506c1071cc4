// SPDX-License-Identifier: GPL-2.0
/* Reading off-core counts, with records in plain memory. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "collect/read_offcore.h"

enum { CPUS = 2 };

static struct offcore_record records[CPUS];
static bool known; /* the PMUs of the CPUs */

u32 kernel_offcore_cpus(const struct kernel_offcore *offcore)
{
	(void)offcore;
	return CPUS;
}

bool kernel_offcore_pmu(const struct kernel_offcore *offcore, u32 cpu, u32 *ret)
{
	(void)offcore, (void)cpu;
	*ret = 0;
	return known;
}

const struct offcore_record *kernel_offcore_record(const struct kernel_offcore *offcore, u32 cpu, u32 slot)
{
	(void)offcore, (void)slot;
	return &records[cpu];
}

static void count(u64 n)
{
	for (u32 cpu = 0; cpu < CPUS; cpu++) {
		records[cpu].counts[OFFCORE_L3] = (struct offcore_count){
			.count = records[cpu].counts[OFFCORE_L3].count + n, .enabled_ns = 1, .running_ns = 1};
		records[cpu].settles++;
	}
}

static struct offcore_counts read_all(struct offcore_base **base)
{
	struct offcore_counts delta = {0};
	u64 cpus = ~0ULL;

	if (read_offcore_moved(NULL, 0, &cpus, *base))
		cr_assert_eq(read_offcore(NULL, 0, &cpus, base, &delta), 0);
	return delta;
}

/* A process that cannot place counters knows no PMU. The maps and the last reading are of the process before. */
Test(read_offcore, without_pmus_nothing_moves_and_the_next_process_continues)
{
	struct offcore_base *base = NULL;

	known = true;
	count(10);
	cr_expect_eq(read_all(&base).of[0][OFFCORE_L3].count, 20);
	known = false;
	cr_expect_eq(read_all(&base).of[0][OFFCORE_L3].count, 0);
	known = true;
	count(1);
	cr_expect_eq(read_all(&base).of[0][OFFCORE_L3].count, 2);
	free(base);
}
