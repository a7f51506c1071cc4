// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "origin/perf/perf_cost.h"
#include "pebsd/records.h"

#define MIB (1024ULL * 1024)

static const struct perf_cost_facts facts = {.slots = 512, .page_size = 4096};

static struct event_spec spec_on(u64 cpus, enum event_role role, bool has_leader)
{
	return (struct event_spec){
		.event = {.role = role, .settings = {.has_latency = role == EVENT_LOADS}},
		.has_leader = has_leader,
		.cpus_known = true,
		.cpus = {{cpus}},
	};
}

/*
 * Loads with a leader and stores on CPUs 0 to 3, loads without a leader on CPUs 4 to 7, and an off-core
 * counter on all of them.
 */
static struct pmu_plan hybrid(void)
{
	struct pmu_plan plan = {.n_specs = 3, .n_counters = 1};

	plan.specs[0] = spec_on(0x0f, EVENT_LOADS, true);
	plan.specs[1] = spec_on(0xf0, EVENT_LOADS, false);
	plan.specs[2] = spec_on(0x0f, EVENT_STORES, false);
	plan.counters[0] = (struct pmu_counter){.cpus_known = true, .cpus = {{0xff}}};
	return plan;
}

Test(perf_cost, the_cost_on_200_cpus_is_as_computed)
{
	const struct perf_cost_case machine = {
		.cpus = 200,
		.stripes = 16,
		.n_events = 2,
		.events = {{.cpus = 200, .has_leader = true, .has_latency = true}, {.cpus = 200}},
		.counters = 400,
	};
	struct perf_cost cost;

	perf_cost(&machine, &facts, &cost);
	cr_expect_eq(cost.descriptors, 200 * 2 + 200 + 400);
	/* Counters do not have rings. */
	cr_expect_eq(cost.ring_bytes, 1200 * 4096ULL);
	cr_expect_eq(cost.ring_bytes_max, 10200 * 4096ULL);
	/*
	 * The parts of the sum: 512 slots x 16 stripes with a record of each kind; 512 owners of 320 bytes;
	 * 1,024 samples of 56; 233 rows of 512 dirty bytes; 201 states of 128; the index; 512 slots x 200 CPUs of
	 * 192 bytes, and 200 times 320. Each part is rounded up to whole pages.
	 */
	cr_expect_eq(cost.map_bytes,
		     512UL * 16 * (sizeof(struct latency_record) + sizeof(struct plain_record)) +
			     160 * 1024ULL + 56 * 1024ULL + 120 * 1024ULL + 28 * 1024ULL + 712 * 64ULL +
			     512 * 16ULL + 512ULL * 200 * 192 + 64 * 1024ULL);
	cr_expect_eq(cost.event_bytes, 0, "nobody told");
	cr_expect_eq(cost.start_ns, 0, "nobody measured");
}

/* A ring of an event that only counts does not grow. */
Test(perf_cost, rings_of_counts_stay_small)
{
	const struct perf_cost_case machine = {.cpus = 4,
					       .stripes = 4,
					       .n_events = 2,
					       .events = {{.cpus = 4, .only_counts = true}, {.cpus = 4}}};
	const struct pmu_plan plan = {.n_specs = 1, .specs = {spec_on(0xf, EVENT_CYCLES, false)}};
	struct perf_cost_case planned;
	struct perf_cost cost;

	perf_cost(&machine, &facts, &cost);
	cr_expect_eq(cost.ring_bytes, 4096ULL * 4 * (2 + 2));
	cr_expect_eq(cost.ring_bytes_max, 4096ULL * 4 * (2 + 17));
	perf_cost_planned(&plan, 1U << EVENT_CYCLES, 4, 4, &planned);
	cr_expect(planned.events[0].only_counts);
}

/* Hot tables of 8 cgroups take 60 MiB for two events on 256 CPUs. The start needs no memory for them. */
Test(perf_cost, hot_tables_are_not_part_of_the_cost_of_the_start)
{
	const struct perf_cost_case machine = {
		.cpus = 256,
		.stripes = 16,
		.n_events = 2,
		.events = {{.cpus = 256, .has_latency = true, .has_code_address = true}, {.cpus = 256}}};
	struct perf_cost_facts with = facts;
	struct perf_cost cost, none;

	perf_cost(&machine, &facts, &none);
	cr_expect_eq(none.hot_bytes, 0, "nobody may have any");
	with.hot_max = 8;
	perf_cost(&machine, &with, &cost);
	cr_expect_eq(cost.map_bytes, none.map_bytes);
	cr_expect_eq(cost.hot_bytes, 60 * MIB);
}

Test(perf_cost, small_machines_have_fewer_stripes)
{
	const struct perf_cost_case machine = {
		.cpus = 2, .stripes = 2, .n_events = 1, .events = {{.cpus = 2, .has_latency = true}}};
	struct perf_cost cost;

	perf_cost(&machine, &facts, &cost);
	/* A map without records has one entry, which takes a page. */
	cr_expect_eq(cost.map_bytes, 512UL * 2 * sizeof(struct latency_record) + 4096 + 160 * 1024ULL +
					     56 * 1024ULL + 4096 + 4096 + 514 * 64ULL + 512 * 16ULL);
}

Test(perf_cost, times_are_given_only_if_all_were_measured)
{
	const struct perf_cost_case machine = {
		.cpus = 8, .n_events = 1, .events = {{.cpus = 8, .has_leader = true}}, .counters = 3};
	struct perf_cost_facts measured = facts;
	struct perf_cost cost;

	measured.event_ns = 1000;
	perf_cost(&machine, &measured, &cost);
	cr_expect_eq(cost.start_ns, 0);
	measured.load_ns = 500000;
	measured.event_bytes = 1800;
	perf_cost(&machine, &measured, &cost);
	cr_expect_eq(cost.start_ns, 508000, "a leader is opened with its event");
	cr_expect_eq(cost.event_bytes, (16 + 3) * 1800ULL);
}

Test(perf_cost, the_cost_of_a_plan_is_computed)
{
	const struct pmu_plan plan = hybrid();
	struct perf_cost_case machine;
	struct perf_cost cost;

	cr_expect_eq(perf_cost_cpus(&plan), 8);
	perf_cost_planned(&plan, 1U << EVENT_LOADS, 8, 8, &machine);
	cr_expect_eq(machine.n_events, 2);
	cr_expect_eq(machine.counters, 0);
	perf_cost(&machine, &facts, &cost);
	cr_expect_eq(cost.descriptors, 4 * 2 + 4);
	perf_cost_planned(&plan, 1U << EVENT_LOADS | 1U << EVENT_STORES | 1U << EVENT_OFFCORE, 8, 8,
			  &machine);
	perf_cost(&machine, &facts, &cost);
	cr_expect_eq(cost.descriptors, 4 * 2 + 4 + 4 + 8);
}

Test(perf_cost, a_hybrid_plan_grows_with_each_pmus_share)
{
	const struct pmu_plan plan = hybrid();
	struct perf_cost_case machine;

	perf_cost_scaled(&plan, 1U << EVENT_LOADS, 200, &machine);
	cr_assert_eq(machine.n_events, 2);
	cr_expect_eq(machine.events[0].cpus, 100);
	cr_expect_eq(machine.events[1].cpus, 100);
	cr_expect_eq(machine.counters, 0);
	perf_cost_scaled(&plan, 1U << EVENT_LOADS | 1U << EVENT_STORES | 1U << EVENT_OFFCORE, 200, &machine);
	cr_expect_eq(machine.n_events, 3);
	cr_expect_eq(machine.counters, 200);
}

Test(perf_cost, a_table_grows_by_roles)
{
	struct pmu_plan plan = hybrid();
	unsigned steps[PERF_COST_STEPS];

	cr_expect_eq(perf_cost_roles(&plan), 1U << EVENT_LOADS | 1U << EVENT_STORES | 1U << EVENT_OFFCORE);
	cr_assert_eq(perf_cost_steps(&plan, steps), 3);
	cr_expect_eq(steps[0], 1U << EVENT_LOADS);
	cr_expect_eq(steps[1], 1U << EVENT_LOADS | 1U << EVENT_STORES);
	cr_expect_eq(steps[2], 1U << EVENT_LOADS | 1U << EVENT_STORES | 1U << EVENT_OFFCORE);
	plan.n_counters = 0;
	cr_expect_eq(perf_cost_steps(&plan, steps), 2);
	plan.n_specs = 2;
	cr_expect_eq(perf_cost_steps(&plan, steps), 1);
	plan.n_specs = 0;
	cr_expect_eq(perf_cost_steps(&plan, steps), 0);
}

Test(perf_cost, if_the_cpus_of_an_event_are_unknown_all_are_assumed)
{
	struct pmu_plan plan = {.n_specs = 1};
	struct perf_cost_case machine;

	cr_expect_eq(perf_cost_cpus(&plan), 0);
	perf_cost_scaled(&plan, 1U << EVENT_LOADS, 64, &machine);
	cr_expect_eq(machine.events[0].cpus, 64);
}

Test(perf_cost, each_cpu_reserves_descriptors_for_event_and_leader)
{
	const struct event_spec loads = spec_on(0x0f, EVENT_LOADS, true);
	const struct event_spec stores = spec_on(0x0f, EVENT_STORES, false);

	cr_expect_eq(perf_cost_reserved(&loads), 8);
	cr_expect_eq(perf_cost_reserved(&stores), 8, "the kernel may demand a leader");
}

Test(perf_cost, slots_follow_from_the_number_of_cgroups)
{
	cr_expect_eq(perf_cost_slots(0), 512);
	cr_expect_eq(perf_cost_slots(256), 512);
	cr_expect_eq(perf_cost_slots(257), 514);
	cr_expect_eq(perf_cost_slots(1000000), 65536);
}

/* The cost of a plan for eight CPUs, scaled to 256 CPUs. There is one stripe for each CPU, up to 16. */
Test(perf_cost, the_cost_is_scaled_to_256_cpus)
{
	const struct pmu_plan plan = hybrid();
	struct perf_cost_case machine;
	struct perf_cost cost, half;

	cr_expect_eq(perf_cost_stripes(1), 1);
	cr_expect_eq(perf_cost_stripes(16), 16);
	cr_expect_eq(perf_cost_stripes(17), 16);
	perf_cost_scaled(&plan, 1U << EVENT_LOADS | 1U << EVENT_STORES, 256, &machine);
	cr_expect_eq(machine.stripes, 16);
	cr_expect_eq(machine.cpus, 256);
	perf_cost(&machine, &facts, &cost);
	/* Loads with a leader and stores on one half of the CPUs, and loads on the other half. */
	cr_expect_eq(cost.descriptors, 128 * 3 + 128);
	cr_expect_eq(cost.ring_bytes, (128ULL * 3 + 128) * 2 * 4096);
	perf_cost_scaled(&plan, 1U << EVENT_LOADS | 1U << EVENT_STORES, 128, &machine);
	perf_cost(&machine, &facts, &half);
	/*
	 * Beyond 16 CPUs, the maps grow only by one cpu_state of 128 bytes and one element of the index of 64 for each
	 * CPU.
	 */
	cr_expect_eq(cost.map_bytes - half.map_bytes, 128 * (128 + 64ULL));
}
