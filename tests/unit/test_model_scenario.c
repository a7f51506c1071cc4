// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "model/scenario.h"

#define SECOND 1000000000ULL

static enum scenario_phase phase_at(u64 seconds)
{
	return scenario_phase_at(seconds * SECOND, NULL);
}

Test(model_scenario, phases_follow_each_other_and_repeat)
{
	static const struct {
		u64 from, to; /* seconds */
		enum scenario_phase phase;
	} cases[] = {
		{0, 45, SCENARIO_QUIET},     {45, 105, SCENARIO_BACKUP}, {105, 135, SCENARIO_QUIET},
		{135, 180, SCENARIO_DEPLOY}, {180, 195, SCENARIO_QUIET}, {195, 235, SCENARIO_BATCH},
		{235, 240, SCENARIO_QUIET},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		u64 since = 0;

		cr_expect_eq(phase_at(cases[i].from), cases[i].phase, "%zu", i);
		cr_expect_eq(phase_at(cases[i].to - 1), cases[i].phase, "%zu", i);
		cr_expect_eq(scenario_phase_at(cases[i].to * SECOND - 1, &since), cases[i].phase, "%zu", i);
		cr_expect_eq(since, (cases[i].to - cases[i].from) * SECOND - 1, "%zu", i);
		cr_expect_eq(phase_at(1000 * SCENARIO_CYCLE_NS / SECOND + cases[i].from), cases[i].phase);
	}
	cr_expect_eq(SCENARIO_CYCLE_NS % SCENARIO_STEP_NS, 0);
}

/* Returns the mean of scenario_busy() from `from` to `to`, in thousandths. */
static u64 mean_busy(enum workload_kind kind, u64 seed, u64 from, u64 to)
{
	u64 sum = 0;

	for (u64 ns = from * SECOND; ns < to * SECOND; ns += SCENARIO_STEP_NS) {
		const u32 busy = scenario_busy(kind, seed, ns);

		cr_assert_leq(busy, 1000, "%s", workload_names[kind]);
		sum += busy;
	}
	return sum * SCENARIO_STEP_NS / ((to - from) * SECOND);
}

Test(model_scenario, backup_and_batch_run_only_in_their_phases)
{
	for (u64 cycle = 0; cycle < 480; cycle += 240) {
		cr_expect_leq(mean_busy(WORKLOAD_BACKUP, 1, cycle, cycle + 45), 2);
		cr_expect_gt(mean_busy(WORKLOAD_BACKUP, 1, cycle + 45, cycle + 65), 900,
			     "at first without a pause, for the windows of rules");
		cr_expect_gt(mean_busy(WORKLOAD_BACKUP, 1, cycle + 65, cycle + 105), 500);
		cr_expect_lt(mean_busy(WORKLOAD_BACKUP, 1, cycle + 65, cycle + 105), 800, "with pauses");
		cr_expect_leq(mean_busy(WORKLOAD_BACKUP, 1, cycle + 105, cycle + 240), 2);
		cr_expect_leq(mean_busy(WORKLOAD_BATCH, 1, cycle, cycle + 195), 2);
		cr_expect_gt(mean_busy(WORKLOAD_BATCH, 1, cycle + 195, cycle + 235), 900);
		cr_expect_leq(mean_busy(WORKLOAD_BATCH, 1, cycle + 235, cycle + 240), 2);
	}
}

Test(model_scenario, services_are_as_busy_in_each_phase)
{
	static const enum workload_kind services[] = {WORKLOAD_DATABASE, WORKLOAD_SHOP, WORKLOAD_CACHE,
						      WORKLOAD_MONITOR};

	for (size_t i = 0; i < sizeof(services) / sizeof(*services); i++) {
		const u64 all = mean_busy(services[i], 1, 0, 960);

		cr_expect_gt(all, 10, "%s", workload_names[services[i]]);
		cr_expect_lt(all, 500, "%s", workload_names[services[i]]);
		for (u64 from = 0; from < 240; from += 60) {
			const u64 here = mean_busy(services[i], 1, from, from + 60);

			cr_expect(here > all * 8 / 10 && here < all * 12 / 10,
				  "%s from %llu s: %llu, not %llu", workload_names[services[i]],
				  (unsigned long long)from, (unsigned long long)here,
				  (unsigned long long)all);
		}
	}
}

Test(model_scenario, seconds_differ_by_the_seed)
{
	unsigned differ = 0, seeds_differ = 0;

	for (u64 second = 0; second < 100; second++) {
		const u64 ns = second * SECOND;
		const u32 busy = scenario_busy(WORKLOAD_DATABASE, 1, ns);

		cr_expect_eq(scenario_busy(WORKLOAD_DATABASE, 1, ns + SECOND - 1), busy, "within a second");
		differ += scenario_busy(WORKLOAD_DATABASE, 1, ns + SECOND) != busy;
		seeds_differ += scenario_busy(WORKLOAD_DATABASE, 2, ns) != busy;
	}
	cr_expect_gt(differ, 80);
	cr_expect_gt(seeds_differ, 80);
}

Test(model_scenario, the_deploy_shares_the_tallies_until_it_is_rolled_back)
{
	cr_expect(!scenario_shared_tallies(WORKLOAD_SHOP, 135 * SECOND - 1));
	cr_expect(scenario_shared_tallies(WORKLOAD_SHOP, 135 * SECOND));
	cr_expect(scenario_shared_tallies(WORKLOAD_SHOP, 180 * SECOND - 1));
	cr_expect(!scenario_shared_tallies(WORKLOAD_SHOP, 180 * SECOND));
	cr_expect(!scenario_shared_tallies(WORKLOAD_CACHE, 150 * SECOND), "a deploy of the shop");
}

Test(model_scenario, the_backup_runs_on_the_other_node)
{
	cr_expect_eq(scenario_node(WORKLOAD_DATABASE), 0);
	cr_expect_eq(scenario_node(WORKLOAD_BACKUP), 1);
	cr_expect_eq(scenario_node(WORKLOAD_SHOP), 0);
	cr_expect_eq(scenario_threads(WORKLOAD_DATABASE), 2);
	cr_expect_eq(scenario_threads(WORKLOAD_MONITOR), 1);
}

/* The other workloads run all the time. */
Test(model_scenario, other_workloads_always_run)
{
	for (int kind = 0; kind < WORKLOAD_COUNT; kind++) {
		cr_expect(!workload_is_program((enum workload_kind)kind));
		cr_expect_eq(scenario_node((enum workload_kind)kind), 0);
		for (u64 second = 0; second < 240; second += 15) {
			cr_expect_eq(scenario_busy((enum workload_kind)kind, 1, second * SECOND), 1000);
			cr_expect(!scenario_shared_tallies((enum workload_kind)kind, second * SECOND));
		}
	}
	for (int kind = WORKLOAD_COUNT; kind < WORKLOAD_KINDS; kind++)
		cr_expect(workload_is_program((enum workload_kind)kind), "%s", workload_names[kind]);
}
