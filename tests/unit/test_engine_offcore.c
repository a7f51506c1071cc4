// SPDX-License-Identifier: GPL-2.0
/* The cost of counting off-core responses, with CPU states in plain memory. */
#include <criterion/criterion.h>

#include <math.h>

#include "engine/engine_offcore.h"
#include "kernel/kernel_offcore.h"

enum { CPUS = 2 };

static struct offcore_cpu states[CPUS];

struct kernel_offcore *kernel_offcore(const struct kernel *kernel)
{
	(void)kernel;
	return (struct kernel_offcore *)(void *)states;
}

u32 kernel_offcore_cpus(const struct kernel_offcore *offcore)
{
	(void)offcore;
	return CPUS;
}

const struct offcore_cpu *kernel_offcore_cpu(const struct kernel_offcore *offcore, u32 cpu)
{
	(void)offcore;
	return &states[cpu];
}

bool kernel_offcore_pmu(const struct kernel_offcore *offcore, u32 cpu, u32 *ret)
{
	(void)offcore;
	(void)cpu;
	*ret = 0;
	return true;
}

/* Each CPU settles this many times, each in 2 us. */
static void settle(u64 times)
{
	for (u32 cpu = 0; cpu < CPUS; cpu++) {
		states[cpu].settles += times;
		states[cpu].timed += times / OFFCORE_TIMED_EVERY;
		states[cpu].timed_ns += times / OFFCORE_TIMED_EVERY * 2000;
	}
}

/* The maps, and so these counters, outlive the process. */
Test(engine_offcore, cost_after_a_restart_is_that_of_the_last_interval)
{
	static struct snapshot head = {.offcore.n_pmus = 1};
	const struct timespec now = {.tv_sec = 1000};
	struct engine_offcore *offcore;
	struct ledger *ledger;

	cr_assert_eq(ledger_new(&ledger), 0);
	settle(64000000);
	cr_assert_eq(engine_offcore_new(NULL, ledger, NSEC_PER_SEC, NSEC_PER_SEC, &now, &offcore), 0);
	for (u64 second = 2; second < 4; second++) {
		settle(6400);
		engine_offcore_enter(offcore, second * NSEC_PER_SEC, &now, &head);
		cr_assert(head.offcore.cost_ratio.known);
		cr_expect_lt(fabs(head.offcore.cost_ratio.value - 0.0128), 1e-6, "%f in second %llu",
			     head.offcore.cost_ratio.value, (unsigned long long)second);
		cr_expect_lt(fabs(head.offcore.settle_ns.value - 2000), 1e-6);
	}
	engine_offcore_free(offcore);
	ledger_free(ledger);
}
