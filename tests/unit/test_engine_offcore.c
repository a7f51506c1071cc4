// SPDX-License-Identifier: GPL-2.0
/* The cost and the windows of off-core responses, with CPU states in plain memory. */
#include <criterion/criterion.h>

#include <math.h>

#include "collect/packed.h"
#include "engine/engine_internal.h"
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
	struct totals *totals;

	cr_assert_eq(totals_new(&totals), 0);
	settle(64000000);
	cr_assert_eq(
		engine_offcore_new(NULL, totals, NSEC_PER_SEC, NSEC_PER_SEC, &now, NSEC_PER_SEC, &offcore),
		0);
	for (u64 second = 2; second < 4; second++) {
		settle(6400);
		engine_offcore_enter(offcore, second * NSEC_PER_SEC, &now, &head);
		cr_assert(head.offcore.cost_ratio.known);
		cr_expect_lt(fabs(head.offcore.cost_ratio.value - 0.0128), 1e-6, "%f in second %llu",
			     head.offcore.cost_ratio.value, (unsigned long long)second);
		cr_expect_lt(fabs(head.offcore.settle_ns.value - 2000), 1e-6);
	}
	engine_offcore_free(offcore);
	totals_free(totals);
}

enum { SECONDS = 60 };

/* Each second, a cgroup has one sample and one off-core response. */
static void collect_seconds(struct engine *engine, struct totals_entry *entry)
{
	const struct offcore_counts one = {.of = {{{.count = 1, .enabled_ns = 1, .running_ns = 1}}}};
	const struct counters counters = {.samples = {1}};
	u8 packed[PACKED_MAX];
	size_t size = packed_of(&counters, packed);

	for (u64 second = 1; second <= SECONDS; second++) {
		const struct timespec now = {.tv_sec = (time_t)(1000 + second)};

		engine->collected_ns = second * NSEC_PER_SEC;
		cr_assert_eq(totals_reserve_offcore(entry), 0);
		totals_add_offcore(entry, &one);
		window_begin(engine->window, engine->collected_ns, &now);
		window_put(engine->window, entry->number, 0, packed, size);
		cr_assert_eq(window_end(engine->window), 0);
		engine_offcore_enter(engine->offcore, engine->collected_ns, &now, &engine->head);
		totals_offcore_taken(engine->totals);
	}
}

/* The window of samples has little memory and merges collections, so it covers more than what is requested. */
Test(engine_offcore, off_core_counts_cover_the_same_time_as_the_samples_of_a_window)
{
	static struct engine engine = {.settings.n_events = 1, .head = {.sequence = SECONDS, .n_events = 1}};
	const struct timespec start = {.tv_sec = 1000};
	struct totals_entry *entry;
	unsigned merged = 0;

	cr_assert_eq(totals_new(&engine.totals), 0);
	cr_assert_eq(totals_get(engine.totals, "/a", &entry), 0);
	cr_assert_eq(window_new((size_t)10 * WINDOW_COLLECTION_BYTES, SECONDS * NSEC_PER_SEC, 0, &start,
				&engine.window),
		     0);
	cr_assert_eq(readings_new(SECONDS * NSEC_PER_SEC, 1, &engine.readings), 0);
	cr_assert_eq(engine_offcore_new(NULL, engine.totals, SECONDS * NSEC_PER_SEC, 0, &start, 0,
					&engine.offcore),
		     0);
	collect_seconds(&engine, entry);
	for (unsigned seconds = 0; seconds < SECONDS; seconds++) {
		const struct maybe_double requested = {.known = true, .value = seconds};
		const struct snapshot *snapshot;
		double covered;

		cr_assert_eq(engine_snapshot(&engine, &requested, &snapshot), 0);
		covered = snapshot->window_seconds.value;
		cr_expect_eq((double)snapshot->offcore_total->of[0][0].count, covered,
			     "%u s requested, %f covered", seconds, covered);
		cr_expect_eq((double)counters_samples(&snapshot->events[0].total), covered);
		merged += covered > seconds && seconds > 0;
	}
	cr_expect_gt(merged, 0);
	engine_forget_snapshots(&engine);
	engine_offcore_free(engine.offcore);
	readings_free(engine.readings);
	window_free(engine.window);
	totals_free(engine.totals);
}
