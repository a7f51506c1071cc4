// SPDX-License-Identifier: GPL-2.0
/* The events that are planned for loads and stores on each generation of cores. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine_fixture.h"
#include "tree.h"

TestSuite(pmu_generations, .init = machine_fixture_start, .fini = machine_fixture_stop);

static const struct generation {
	const char *name, *loads, *stores, *auxiliary;
	u64 loads_config, stores_config; /* 0: no store event */
	enum latency_kind kind;
	bool stores_have_latency, turns;
	u8 precise_ip;
	u32 period_min;
} generations[] = {
	{"nehalem", LOADS_NEHALEM, NULL, NULL, 0x100b, 0, LATENCY_USE, false, false, 1, 32},
	{"westmere", LOADS_NEHALEM, NULL, NULL, 0x100b, 0, LATENCY_USE, false, false, 1, 1},
	{"sandybridge", LOADS_CORE, STORES_CD, NULL, 0x1cd, 0x2cd, LATENCY_USE, false, true, 1, 1},
	{"ivybridge", LOADS_CORE, STORES_CD, NULL, 0x1cd, 0x2cd, LATENCY_USE, false, true, 1, 1},
	{"haswell", LOADS_CORE, STORES_ALL, NULL, 0x1cd, 0x82d0, LATENCY_USE, false, false, 2, 32},
	{"broadwell", LOADS_CORE, STORES_ALL, NULL, 0x1cd, 0x82d0, LATENCY_USE, false, false, 2, 1},
	{"skylake", LOADS_CORE, STORES_ALL, NULL, 0x1cd, 0x82d0, LATENCY_USE, false, false, 2, 1},
	{"icelake", LOADS_CORE, STORES_ALL, NULL, 0x1cd, 0x82d0, LATENCY_USE, false, false, 2, 1},
	{"sapphire_rapids", LOADS_CORE, STORES_CD, LOADS_AUXILIARY, 0x1cd, 0x2cd, LATENCY_CACHE, true, false,
	 2, 1},
	{"granite_rapids", LOADS_CORE, STORES_CD, NULL, 0x1cd, 0x2cd, LATENCY_CACHE, true, false, 2, 1},
	{"panthercove", LOADS_CORE, STORES_CD, NULL, 0x1cd, 0x2cd, LATENCY_CACHE, true, false, 2, 1},
	{"gracemont", LOADS_ATOM, STORES_ATOM, NULL, 0x5d0, 0x6d0, LATENCY_CACHE, true, false, 2, 1},
	{"crestmont", LOADS_ATOM, STORES_ATOM, NULL, 0x5d0, 0x6d0, LATENCY_CACHE, true, false, 2, 1},
	{"darkmont", LOADS_ATOM, STORES_ATOM, NULL, 0x5d0, 0x6d0, LATENCY_CACHE, true, false, 2, 1},
	{"not_yet_named", LOADS_CORE, STORES_CD, NULL, 0x1cd, 0x2cd, LATENCY_CACHE, true, false, 2, 1},
};

static void plan_generation(const struct generation *generation, unsigned roles)
{
	const struct machine_core core = {.name = generation->name,
					  .loads = generation->loads,
					  .stores = generation->stores,
					  .auxiliary = generation->auxiliary};

	tree_remove(root);
	root = tree_new();
	machine_tree(root, &core);
	machine_plan(root, roles, &plan);
}

Test(pmu_generations, loads_are_planned_for_each_generation)
{
	for (size_t i = 0; i < ARRAY_SIZE(generations); i++) {
		const struct generation *generation = &generations[i];
		const char *name = generation->name;
		const struct event_spec *spec;
		bool split = generation->kind == LATENCY_CACHE;

		plan_generation(generation, ROLE(LOADS));
		cr_assert_eq(plan.n_specs, 1, "%s", name);
		cr_expect_eq(plan.n_refusals, 0, "%s", name);
		spec = &plan.specs[0];
		cr_expect_eq(spec->event.role, EVENT_LOADS);
		cr_expect_eq(spec->config, generation->loads_config, "%s", name);
		cr_expect_eq(spec->config1, 30, "%s", name);
		cr_expect_eq(spec->precise_ip, generation->precise_ip, "%s", name);
		cr_expect_eq(spec->has_leader, generation->auxiliary != NULL, "%s", name);
		cr_expect_eq(spec->event.latency_kind, generation->kind, "%s", name);
		cr_expect_eq(spec->event.settings.has_latency, 1, "%s", name);
		cr_expect_eq(spec->event.settings.has_instruction_latency, split, "%s", name);
		cr_expect_eq(spec->event.settings.operations, 0, "%s", name);
		cr_expect_eq(spec->event.period, 10007, "%s", name);
		cr_expect_eq(spec->period_min, generation->period_min, "%s", name);
		cr_expect_eq(spec->period_step, 1, "%s", name);
		cr_expect(spec->pinned, "%s", name);
		cr_expect(spec->exclude_guest, "%s", name);
	}
}

Test(pmu_generations, stores_are_planned_next_to_loads)
{
	for (size_t i = 0; i < ARRAY_SIZE(generations); i++) {
		const struct generation *generation = &generations[i];
		const char *name = generation->name;
		const struct event_spec *stores;
		u8 latency = generation->stores_have_latency;

		plan_generation(generation, ROLE(LOADS) | ROLE(STORES));
		cr_assert_geq(plan.n_specs, 1, "%s", name);
		cr_expect_eq(plan.specs[0].event.role, EVENT_LOADS);
		cr_expect_eq(plan.specs[0].pinned, !generation->turns, "%s", name);
		cr_expect_eq(machine_note(&plan, "run in turns") != NULL, generation->turns, "%s", name);
		stores = machine_spec(&plan, "cpu", EVENT_STORES);
		if (!generation->stores_config) {
			cr_expect_null(stores, "%s", name);
			cr_assert_eq(plan.n_refusals, 1, "%s", name);
			cr_expect_eq(plan.refusals[0].role, EVENT_STORES, "%s", name);
			cr_expect_not_null(
				strstr(plan.refusals[0].reason, "Sandy Bridge is the first CPU that has one"),
				"%s", plan.refusals[0].reason);
			continue;
		}
		cr_assert_not_null(stores, "%s", name);
		cr_expect_eq(plan.n_refusals, 0, "%s", name);
		cr_expect_eq(stores->config, generation->stores_config, "%s", name);
		cr_expect_eq(stores->config1, 0, "%s", name);
		cr_expect_eq(stores->precise_ip, generation->precise_ip, "%s", name);
		cr_expect_not(stores->has_leader, "%s", name);
		cr_expect_eq(stores->pinned, !generation->turns, "%s", name);
		cr_expect_eq(stores->event.ldlat, 0, "%s", name);
		cr_expect_eq(stores->event.period, stores->collides ? 1000003 : 10007, "%s", name);
		cr_expect_eq(stores->event.latency_kind, latency ? LATENCY_CACHE : LATENCY_NONE, "%s", name);
		cr_expect_eq(stores->event.settings.has_source, 1, "%s", name);
		cr_expect_eq(stores->event.settings.has_address, 1, "%s", name);
		cr_expect_eq(stores->event.settings.has_latency, latency, "%s", name);
		cr_expect_eq(stores->event.settings.has_instruction_latency, latency, "%s", name);
		cr_expect_eq(stores->event.settings.weight_struct, latency, "%s", name);
	}
}

/*
 * Plans `roles` and expects exactly those in `colliding` to collide. Events that take turns never run at the
 * same time.
 */
static void expect_colliding(const char *name, unsigned roles, unsigned colliding)
{
	for (size_t i = 0; i < ARRAY_SIZE(generations); i++) {
		if (strcmp(generations[i].name, name) != 0)
			continue;
		plan_generation(&generations[i], roles);
		for (size_t j = 0; j < plan.n_specs; j++)
			cr_expect_eq(plan.specs[j].collides,
				     (colliding & 1U << plan.specs[j].event.role) != 0,
				     "%s: spec %zu of roles %#x", name, j, roles);
		return;
	}
	cr_assert_fail("no generation %s", name);
}

Test(pmu_generations, before_skylake_records_of_concurrent_events_collide)
{
	const unsigned all = ROLE(LOADS) | ROLE(STORES) | ROLE(INSTRUCTIONS);

	expect_colliding("haswell", all, all);
	expect_colliding("broadwell", ROLE(LOADS) | ROLE(STORES), ROLE(LOADS) | ROLE(STORES));
	expect_colliding("haswell", ROLE(STORES), 0);
	expect_colliding("ivybridge", ROLE(LOADS) | ROLE(STORES), 0);
	expect_colliding("ivybridge", all, all);
	/* Next to other events, instructions are only counted here. */
	expect_colliding("sandybridge", all, ROLE(LOADS) | ROLE(STORES));
	expect_colliding("nehalem", ROLE(LOADS) | ROLE(INSTRUCTIONS), ROLE(LOADS) | ROLE(INSTRUCTIONS));
	expect_colliding("skylake", all, 0);
	expect_colliding("sapphire_rapids", all, 0);
}

Test(pmu_generations, colliding_stores_have_a_longer_default_period)
{
	const struct generation *haswell = &generations[4];

	cr_assert_str_eq(haswell->name, "haswell");
	plan_generation(haswell, ROLE(LOADS) | ROLE(STORES));
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_LOADS)->event.period, 10007);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_STORES)->event.period, 1000003);
	plan_generation(haswell, ROLE(STORES) | ROLE(INSTRUCTIONS));
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_STORES)->event.period, 1000003);
	plan_generation(haswell, ROLE(STORES));
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_STORES)->event.period, 10007);
}

Test(pmu_generations, stores_without_loads_are_not_multiplexed)
{
	for (size_t i = 0; i < ARRAY_SIZE(generations); i++) {
		if (!generations[i].stores_config)
			continue;
		plan_generation(&generations[i], ROLE(STORES));
		cr_assert_eq(plan.n_specs, 1, "%s", generations[i].name);
		cr_expect(plan.specs[0].pinned, "%s", generations[i].name);
		cr_expect_null(machine_note(&plan, "run in turns"), "%s", generations[i].name);
	}
}

/* Linux before 4.14 does not report a name. None of the CPUs that it knows reports store latency. */
Test(pmu_generations, a_core_without_a_name_is_treated_as_old)
{
	const struct machine_core core = {.loads = LOADS_CORE, .stores = STORES_CD};

	machine_tree(root, &core);
	machine_plan(root, ROLE(LOADS) | ROLE(STORES), &plan);
	cr_assert_eq(plan.n_specs, 2);
	cr_expect_eq(plan.specs[0].event.latency_kind, LATENCY_USE);
	cr_expect_eq(plan.specs[1].event.settings.has_latency, 0);
	cr_expect_not(plan.specs[0].pinned);
	cr_expect_not_null(machine_note(&plan, "caps/pmu_name is missing"));
}

/* `more` is a third core PMU, or NULL. */
static void alder_lake(const char *name, const char *auxiliary, const struct machine_core *more)
{
	struct machine_core cores[3] = {
		{.pmu = "cpu_atom",
		 .name = name,
		 .type = "10",
		 .cpus = "16-23",
		 .loads = LOADS_ATOM,
		 .stores = STORES_ATOM},
		{.pmu = "cpu_core",
		 .name = name,
		 .cpus = "0-15",
		 .loads = LOADS_CORE,
		 .stores = STORES_CD,
		 .auxiliary = auxiliary},
	};

	if (more)
		cores[2] = *more;
	machine_tree_hybrid(root, cores, more ? 3 : 2);
	tree_write(root, "devices/system/cpu/online", "0-17,20-23\n");
	tree_write(root, "devices/system/node/node0/cpulist", "0-17,20-23\n");
}

static void expect_cpus(const struct event_spec *spec, const char *expected)
{
	_cleanup_free_ char *cpus = cpu_list_format(&spec->cpus);

	cr_expect(spec->has_members);
	cr_expect(spec->cpus_known);
	cr_expect_str_eq(cpus, expected);
}

Test(pmu_generations, each_core_pmu_of_a_hybrid_cpu_samples_on_its_own_cpus)
{
	static const struct {
		const char *pmu, *cpus;
		enum event_role role;
		u32 type;
		u64 config, config1;
		bool has_leader;
		u8 precise_ip;
	} expected[] = {
		{"cpu_atom", "16-17,20-23", EVENT_LOADS, 10, 0x5d0, 30, false, 2},
		{"cpu_atom", "16-17,20-23", EVENT_STORES, 10, 0x6d0, 0, false, 2},
		{"cpu_atom", "16-17,20-23", EVENT_INSTRUCTIONS, 10, 0xc0, 0, false, 3},
		{"cpu_core", "0-15", EVENT_LOADS, 4, 0x1cd, 30, true, 2},
		{"cpu_core", "0-15", EVENT_STORES, 4, 0x2cd, 0, false, 2},
		{"cpu_core", "0-15", EVENT_INSTRUCTIONS, 4, 0xc0, 0, false, 3},
	};

	alder_lake("alderlake_hybrid", LOADS_AUXILIARY, NULL);
	machine_plan(root, ROLE(LOADS) | ROLE(STORES) | ROLE(INSTRUCTIONS), &plan);
	cr_expect_eq(plan.n_refusals, 0);
	cr_assert_eq(plan.n_specs, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct event_spec *spec = &plan.specs[i];

		cr_expect_str_eq(spec->event.pmu, expected[i].pmu);
		expect_cpus(spec, expected[i].cpus);
		cr_expect_eq(spec->event.role, expected[i].role);
		cr_expect_eq(spec->type, expected[i].type);
		cr_expect_eq(spec->config, expected[i].config);
		cr_expect_eq(spec->config1, expected[i].config1);
		cr_expect_eq(spec->has_leader, expected[i].has_leader);
		cr_expect_eq(spec->precise_ip, expected[i].precise_ip);
		cr_expect(spec->pinned);
		if (expected[i].role != EVENT_INSTRUCTIONS)
			cr_expect_eq(spec->event.latency_kind, LATENCY_CACHE);
	}
}

/* The sizes of these files on an Alder Lake with Linux 6.1, 6.12 and 7.3. */
Test(pmu_generations, hybrid_event_files_have_the_sizes_of_the_kernel)
{
	static const struct {
		const char *file;
		size_t bytes;
	} files[] = {{"cpu_atom/events/mem-loads", 57},
		     {"cpu_atom/events/mem-stores", 41},
		     {"cpu_core/events/mem-loads", strlen(LOADS_CORE)},
		     {"cpu_core/events/mem-stores", strlen(STORES_CD)}};

	alder_lake("alderlake_hybrid", LOADS_AUXILIARY, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[PATH_MAX];
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s", root, files[i].file);
		cr_assert_eq(stat(path, &st), 0);
		cr_expect_eq((size_t)st.st_size, files[i].bytes, "%s", files[i].file);
	}
}

/* Arrow Lake-H has three core PMUs and no auxiliary event. */
Test(pmu_generations, three_kinds_of_cores_are_planned)
{
	const struct machine_core tiny = {.pmu = "cpu_lowpower",
					  .name = "arrowlake_h_hybrid",
					  .type = "11",
					  .cpus = "24-25",
					  .loads = LOADS_ATOM,
					  .stores = STORES_ATOM};

	alder_lake("arrowlake_h_hybrid", NULL, &tiny);
	tree_write(root, "devices/system/cpu/online", "0-25\n");
	machine_plan(root, ROLE(LOADS), &plan);
	cr_assert_eq(plan.n_specs, 3);
	cr_expect_str_eq(plan.specs[0].event.pmu, "cpu_atom");
	cr_expect_str_eq(plan.specs[1].event.pmu, "cpu_core");
	cr_expect_str_eq(plan.specs[2].event.pmu, "cpu_lowpower");
	expect_cpus(&plan.specs[2], "24-25");
	for (size_t i = 0; i < plan.n_specs; i++)
		cr_expect_not(plan.specs[i].has_leader);
}

/* One core PMU of a hybrid CPU may lack an event that another one has. */
Test(pmu_generations, an_event_that_one_pmu_lacks_is_refused_there)
{
	const struct machine_core cores[] = {
		{.pmu = "cpu_atom", .name = "alderlake_hybrid", .type = "10", .cpus = "16-23"},
		{.pmu = "cpu_core",
		 .name = "alderlake_hybrid",
		 .cpus = "0-15",
		 .loads = LOADS_CORE,
		 .stores = STORES_CD,
		 .auxiliary = LOADS_AUXILIARY},
	};

	machine_tree_hybrid(root, cores, ARRAY_SIZE(cores));
	machine_plan(root, ROLE(LOADS), &plan);
	cr_assert_eq(plan.n_specs, 1);
	cr_expect_str_eq(plan.specs[0].event.pmu, "cpu_core");
	cr_expect_not_null(machine_tree_refusal(&plan, "cpu_atom", EVENT_LOADS));
}

/* The expected spec.only_counter of loads, stores and instructions. */
Test(pmu_generations, events_of_only_one_counter_are_marked)
{
	static const struct {
		const char *name;
		u8 loads, stores, instructions;
	} cases[] = {
		{"westmere", 0, 0, 0},         {"ivybridge", 4, 4, 2},       {"haswell", 4, 0, 2},
		{"broadwell", 4, 0, 2},        {"skylake", 0, 0, 2},         {"icelake", 0, 0, 33},
		{"sapphire_rapids", 0, 1, 33}, {"granite_rapids", 0, 1, 33}, {"gracemont", 0, 0, 0},
		{"not_yet_named", 0, 0, 33},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (size_t j = 0; j < ARRAY_SIZE(generations); j++) {
			const u8 expected[] = {cases[i].loads, cases[i].stores, cases[i].instructions};

			if (strcmp(generations[j].name, cases[i].name) != 0)
				continue;
			plan_generation(&generations[j], ROLE(LOADS) | ROLE(STORES) | ROLE(INSTRUCTIONS));
			cr_assert_geq(plan.n_specs, 2, "%s", cases[i].name);
			for (size_t k = 0; k < plan.n_specs; k++)
				cr_expect_eq(plan.specs[k].only_counter, expected[plan.specs[k].event.role],
					     "%s: %s is %u", cases[i].name,
					     event_role_name(plan.specs[k].event.role),
					     plan.specs[k].only_counter);
		}
}
