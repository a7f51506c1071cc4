// SPDX-License-Identifier: GPL-2.0
/* The precise instruction event of each generation, and the machines where it is refused. */
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine_fixture.h"
#include "tree.h"

TestSuite(pmu_instructions, .init = machine_fixture_start, .fini = machine_fixture_stop);

/* Expects the event that only counts instructions. */
static void expect_plain(const char *pmu, u64 config)
{
	const struct event_spec *spec = machine_spec(&plan, pmu, EVENT_INSTRUCTIONS);

	cr_assert_not_null(spec);
	cr_expect(event_is_count(&spec->event));
	cr_expect_eq(spec->config, config);
	cr_expect_eq(spec->precise_ip, 0);
	cr_expect_not(spec->pinned);
	cr_expect(spec->exclude_guest);
	cr_expect_eq(spec->only_counter, 0);
	cr_expect_eq(spec->event.period, 10000019);
	cr_expect_eq(spec->event.count_kind, COUNT_NONE);
	cr_expect_null(machine_tree_refusal(&plan, pmu, EVENT_INSTRUCTIONS));
}

Test(pmu_instructions, each_generation_has_its_highest_precision)
{
	static const struct {
		const char *name, *loads;
		u64 config;
		u8 precise_ip;
		u64 period;
		u32 step;
	} cases[] = {
		{"core2", NULL, 0xc0, 2, 10000019, 1},
		{"nehalem", LOADS_NEHALEM, 0xc0, 2, 10000019, 1},
		{"westmere", LOADS_NEHALEM, 0xc0, 2, 10000019, 1},
		{"sandybridge", LOADS_CORE, 0x1c0, 2, 10000019, 1},
		{"ivybridge", LOADS_CORE, 0x1c0, 3, 10000019, 1},
		{"haswell", LOADS_CORE, 0x1c0, 3, 10000019, 1},
		{"broadwell", LOADS_CORE, 0x1c0, 3, 10000192, 64},
		{"skylake", LOADS_CORE, 0x1c0, 3, 10000019, 1},
		{"icelake", LOADS_CORE, 0xc0, 3, 10000019, 1},
		{"sapphire_rapids", LOADS_CORE, 0xc0, 3, 10000019, 1},
		{"granite_rapids", LOADS_CORE, 0xc0, 3, 10000019, 1},
		{"silvermont", NULL, 0xc0, 2, 10000019, 1},
		{"knights-landing", NULL, 0xc0, 2, 10000019, 1},
		{"goldmont", NULL, 0xc0, 3, 10000019, 1},
		{"goldmont_plus", NULL, 0xc0, 3, 10000019, 1},
		{"Tremont", NULL, 0xc0, 3, 10000019, 1},
		{"gracemont", LOADS_ATOM, 0xc0, 3, 10000019, 1},
		{"crestmont", LOADS_ATOM, 0xc0, 3, 10000019, 1},
		{"not_yet_named", LOADS_CORE, 0xc0, 3, 10000019, 1},
		{"generic_arch_v5+", NULL, 0xc0, 3, 10000019, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct machine_core core = {.name = cases[i].name, .loads = cases[i].loads};
		/* Only Goldmont and Goldmont Plus record the data address for any precise event. */
		const struct event_settings wanted = {
			.has_address = strncmp(cases[i].name, "goldmont", strlen("goldmont")) == 0,
			.has_code_address = 1};
		const struct event_spec *spec;

		machine_fixture_tree(&core);
		machine_plan(root, ROLE(INSTRUCTIONS), &plan);
		cr_assert_eq(plan.n_specs, 1, "%s", cases[i].name);
		cr_expect_eq(plan.n_refusals, 0, "%s", cases[i].name);
		spec = &plan.specs[0];
		cr_expect_eq(spec->event.role, EVENT_INSTRUCTIONS);
		cr_expect_eq(spec->config, cases[i].config, "%s", cases[i].name);
		cr_expect_eq(spec->config1, 0, "%s", cases[i].name);
		cr_expect_eq(spec->precise_ip, cases[i].precise_ip, "%s", cases[i].name);
		cr_expect_eq(spec->event.period, cases[i].period, "%s", cases[i].name);
		cr_expect_eq(spec->period_step, cases[i].step, "%s", cases[i].name);
		cr_expect_eq(spec->period_min, 128, "%s", cases[i].name);
		cr_expect_eq(spec->event.latency_kind, LATENCY_NONE, "%s", cases[i].name);
		cr_expect_eq(memcmp(&spec->event.settings, &wanted, sizeof(wanted)), 0, "%s", cases[i].name);
		cr_expect(spec->pinned, "%s", cases[i].name);
		cr_expect(spec->exclude_guest, "%s", cases[i].name);
		cr_expect_eq(spec->may_count, cases[i].config == 0xc0, "%s", cases[i].name);
	}
}

Test(pmu_instructions, precision_does_not_exceed_the_capability)
{
	const struct machine_core core = {.name = "icelake", .loads = LOADS_CORE, .precise = "2"};
	const struct machine_core idle = {.name = "icelake", .loads = LOADS_CORE, .precise = "0"};

	machine_fixture_tree(&core);
	machine_plan(root, ROLE(INSTRUCTIONS), &plan);
	cr_expect_eq(plan.specs[0].precise_ip, 2);
	machine_fixture_tree(&idle);
	machine_plan(root, ROLE(INSTRUCTIONS), &plan);
	cr_assert_eq(plan.n_specs, 1);
	cr_expect_eq(plan.specs[0].precise_ip, 3);
}

Test(pmu_instructions, next_to_other_events_sandy_bridge_counts_without_precision)
{
	const struct machine_core core = {
		.name = "sandybridge", .loads = LOADS_CORE, .stores = STORES_CD, .precise = "2"};
	static const unsigned company[] = {ROLE(LOADS),   ROLE(STORES),
					   ROLE(OFFCORE), ROLE(LOADS) | ROLE(STORES),
					   ROLE(CYCLES),  ROLE(MISSES)};

	machine_fixture_tree(&core);
	for (size_t i = 0; i < ARRAY_SIZE(company); i++) {
		machine_plan(root, ROLE(INSTRUCTIONS) | company[i], &plan);
		expect_plain("cpu", 0xc0);
		cr_expect_not_null(
			machine_note(&plan, "requires the other programmable counters to be idle"));
	}
	machine_plan(root, ROLE(INSTRUCTIONS), &plan);
	cr_assert_eq(plan.n_specs, 1);
	cr_expect_eq(plan.specs[0].config, 0x1c0);
	cr_expect_eq(plan.specs[0].precise_ip, 2);
}

Test(pmu_instructions, next_to_other_events_ivy_bridge_stays_precise)
{
	const struct machine_core core = {.name = "ivybridge", .loads = LOADS_CORE, .stores = STORES_CD};

	machine_fixture_tree(&core);
	machine_plan(root, ALL_ROLES, &plan);
	cr_expect_eq(plan.n_specs, 3);
	cr_expect_eq(plan.n_refusals, 0);
}

Test(pmu_instructions, a_requested_period_is_used)
{
	const struct machine_core core = {.name = "broadwell", .loads = LOADS_CORE};
	static const struct {
		u64 requested, planned;
	} cases[] = {{2000000, 2000000}, {1000003, 1000000}, {1, 128}, {127, 128}, {191, 128}};

	machine_fixture_tree(&core);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct pmu_request request = {
			.ldlat = 30,
			.roles = ROLE(INSTRUCTIONS),
			.periods = {.accesses = 77, .instructions = cases[i].requested}};

		pmu_plan_done(&plan);
		cr_assert_eq(pmu_plan(root, &request, &plan), 0);
		cr_assert_eq(plan.n_specs, 1);
		cr_expect_eq(plan.specs[0].event.period, cases[i].planned);
		cr_expect_eq(machine_note(&plan, "supports multiples of 64, at least 128") != NULL,
			     cases[i].planned != cases[i].requested);
	}
}

Test(pmu_instructions, without_pebs_they_are_only_counted)
{
	/* format/ldlat without events/mem-loads: this model has PEBS, but this machine does not. */
	const struct machine_core guest = {.name = "skylake", .precise = "0"};
	const struct machine_core unknown = {.name = "generic_arch_v2+", .precise = "0", .no_offcore = true};
	const struct machine_core nameless = {.precise = "0"};

	machine_fixture_tree(&guest);
	tree_pmu(root, "cpu", "format/ldlat", "config1:0-15\n");
	machine_plan(root, ROLE(INSTRUCTIONS), &plan);
	expect_plain("cpu", 0xc0);
	machine_fixture_tree(&unknown);
	machine_plan(root, ROLE(INSTRUCTIONS), &plan);
	expect_plain("cpu", 0xc0);
	machine_fixture_tree(&nameless);
	machine_plan(root, ROLE(INSTRUCTIONS), &plan);
	expect_plain("cpu", 0xc0);
}

Test(pmu_instructions, amd_counts_instructions_on_the_core)
{
	machine_tree_amd(root, false);
	machine_plan(root, ROLE(INSTRUCTIONS), &plan);
	cr_expect_eq(plan.n_specs, 1);
	cr_expect_eq(plan.n_refusals, 0);
	expect_plain("cpu", 0xc0);
}
