// SPDX-License-Identifier: GPL-2.0
/* The events that only count: cycles, stalls, misses and plain instructions, on each generation of cores. */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine_fixture.h"
#include "origin/pmu/perf_attr.h"
#include "origin/pmu/pmu_amd.h"
#include "tree.h"

TestSuite(pmu_counts, .init = machine_fixture_start, .fini = machine_fixture_stop);

static void expect_refused(const char *pmu, enum event_role role, const char *words)
{
	const char *reason = machine_tree_refusal(&plan, pmu, role);

	cr_expect_null(machine_spec(&plan, pmu, role));
	cr_assert_not_null(reason, "nothing said of %s", words);
	cr_expect_not_null(strstr(reason, words), "%s", reason);
}

/* Expects an event without a PEBS record, which yields its counter. `name` is for messages. */
static void expect_count(const char *name, const char *pmu, enum event_role role, u64 config, u64 period,
			 enum count_kind kind, u8 only_counter)
{
	static const struct event_settings none = {0};
	const struct event_spec *spec = machine_spec(&plan, pmu, role);

	cr_assert_not_null(spec, "%s: no %s", name, event_role_name(role));
	cr_expect(event_is_count(&spec->event), "%s", name);
	cr_expect_eq(spec->config, config, "%s: %s: %#llx", name, event_role_name(role), spec->config);
	cr_expect_eq(spec->config1, 0, "%s", name);
	cr_expect_eq(spec->config2, 0, "%s", name);
	cr_expect_eq(spec->precise_ip, 0, "%s", name);
	cr_expect_not(spec->pinned, "%s", name);
	cr_expect_not(spec->collides, "%s", name);
	cr_expect_not(spec->has_leader, "%s", name);
	cr_expect(spec->exclude_guest, "%s", name);
	cr_expect_eq(spec->only_counter, only_counter, "%s: %s", name, event_role_name(role));
	cr_expect_eq(spec->period_step, 1, "%s", name);
	cr_expect_eq(spec->event.period, period, "%s: %s", name, event_role_name(role));
	cr_expect_eq(spec->event.count_kind, kind, "%s: %s", name, event_role_name(role));
	cr_expect_eq(spec->event.latency_kind, LATENCY_NONE, "%s", name);
	cr_expect_eq(memcmp(&spec->event.settings, &none, sizeof(none)), 0, "%s", name);
	cr_expect_null(machine_tree_refusal(&plan, pmu, role), "%s", name);
}

static const struct generation {
	const char *name, *loads;
	u64 stalls; /* 0: refused */
	enum count_kind stalls_kind, misses_kind;
	u8 stalls_counter;
} generations[] = {
	{"core", NULL, 0, COUNT_NONE, COUNT_MISSES_L2, 0},
	{"core2", NULL, 0, COUNT_NONE, COUNT_MISSES_L2, 0},
	{"bonnell", NULL, 0, COUNT_NONE, COUNT_MISSES_L2, 0},
	{"nehalem", LOADS_NEHALEM, 0, COUNT_NONE, COUNT_MISSES_L3, 0},
	{"westmere", LOADS_NEHALEM, 0, COUNT_NONE, COUNT_MISSES_L3, 0},
	{"sandybridge", LOADS_CORE, 0x60006a3, COUNT_STALLS_L1_MISS, COUNT_MISSES_L3, 3},
	{"ivybridge", LOADS_CORE, 0x60006a3, COUNT_STALLS_LOAD, COUNT_MISSES_L3, 0},
	{"haswell", LOADS_CORE, 0x60006a3, COUNT_STALLS_LOAD, COUNT_MISSES_L3, 0},
	{"broadwell", LOADS_CORE, 0x60006a3, COUNT_STALLS_LOAD, COUNT_MISSES_L3, 0},
	{"skylake", LOADS_CORE, 0x140014a3, COUNT_STALLS_LOAD, COUNT_MISSES_L3, 0},
	{"icelake", LOADS_CORE, 0x140014a3, COUNT_STALLS_LOAD, COUNT_MISSES_L3, 0},
	{"sapphire_rapids", LOADS_CORE, 0x50021a6, COUNT_STALLS_LOAD, COUNT_MISSES_L3, 0},
	{"granite_rapids", LOADS_CORE, 0x50021a6, COUNT_STALLS_LOAD, COUNT_MISSES_L3, 0},
	{"silvermont", NULL, 0, COUNT_NONE, COUNT_MISSES_L2, 0},
	{"knights-landing", NULL, 0, COUNT_NONE, COUNT_MISSES_L2, 0},
	{"goldmont", NULL, 0, COUNT_NONE, COUNT_MISSES_L2, 0},
	{"goldmont_plus", NULL, 0, COUNT_NONE, COUNT_MISSES_L2, 0},
	{"Tremont", NULL, 0x734, COUNT_STALLS_L1_MISS, COUNT_MISSES_L3, 0},
	{"gracemont", LOADS_ATOM, 0x734, COUNT_STALLS_L1_MISS, COUNT_MISSES_L3, 0},
	{"crestmont", LOADS_ATOM, 0x7f34, COUNT_STALLS_L1_MISS, COUNT_MISSES_L3, 0},
	{"darkmont", LOADS_ATOM, 0x7f34, COUNT_STALLS_L1_MISS, COUNT_MISSES_L3, 0},
};

Test(pmu_counts, each_generation_has_its_encodings)
{
	for (size_t i = 0; i < ARRAY_SIZE(generations); i++) {
		const struct generation *generation = &generations[i];
		const struct machine_core core = {.name = generation->name, .loads = generation->loads};

		machine_fixture_tree(&core);
		machine_plan(root, COUNT_ROLES, &plan);
		expect_count(generation->name, "cpu", EVENT_CYCLES, 0x3c, 10000019, COUNT_NONE, 0);
		expect_count(generation->name, "cpu", EVENT_MISSES, 0x412e, 50021, generation->misses_kind,
			     0);
		if (generation->stalls)
			expect_count(generation->name, "cpu", EVENT_STALLS, generation->stalls, 10000019,
				     generation->stalls_kind, generation->stalls_counter);
		else
			expect_refused("cpu", EVENT_STALLS,
				       "this CPU has no event of cycles in which it waits for loads");
	}
}

Test(pmu_counts, each_kind_of_core_of_a_hybrid_cpu_has_its_own_encodings)
{
	static const struct {
		const char *name;
		u64 big, small;
	} cases[] = {{"alderlake_hybrid", 0x50021a6, 0x734}, {"meteorlake_hybrid", 0x50021a6, 0x7f34}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct machine_core cores[] = {
			{.pmu = "cpu_atom", .name = cases[i].name, .cpus = "2-3", .loads = LOADS_ATOM},
			{.pmu = "cpu_core", .name = cases[i].name, .cpus = "0-1", .loads = LOADS_CORE},
		};

		tree_remove(root);
		root = tree_new();
		machine_tree_hybrid(root, cores, 2);
		machine_plan(root, ALL_ROLES | COUNT_ROLES, &plan);
		cr_expect_leq(plan.n_specs, EVENTS_MAX);
		expect_count(cases[i].name, "cpu_core", EVENT_CYCLES, 0x3c, 10000019, COUNT_NONE, 0);
		expect_count(cases[i].name, "cpu_core", EVENT_STALLS, cases[i].big, 10000019,
			     COUNT_STALLS_LOAD, 0);
		expect_count(cases[i].name, "cpu_core", EVENT_MISSES, 0x412e, 50021, COUNT_MISSES_L3, 0);
		expect_count(cases[i].name, "cpu_atom", EVENT_CYCLES, 0x3c, 10000019, COUNT_NONE, 0);
		expect_count(cases[i].name, "cpu_atom", EVENT_STALLS, cases[i].small, 10000019,
			     COUNT_STALLS_L1_MISS, 0);
		expect_count(cases[i].name, "cpu_atom", EVENT_MISSES, 0x412e, 50021, COUNT_MISSES_L3, 0);
	}
}

/* A virtual machine without PEBS: the architectural events work, and the model's own if its name is known. */
Test(pmu_counts, a_virtual_machine_without_pebs_uses_counts)
{
	const struct machine_core known = {.name = "skylake", .precise = "0"};
	const struct machine_core generic = {.name = "generic_arch_v2+", .precise = "0"};
	const struct machine_core later = {.name = "not_yet_named", .precise = "0"};
	const struct machine_core nameless = {.precise = "0"};
	const unsigned all = ALL_ROLES | COUNT_ROLES;

	machine_fixture_tree(&known);
	tree_pmu(root, "cpu", "format/ldlat", "config1:0-15\n");
	machine_plan(root, all, &plan);
	expect_count("known", "cpu", EVENT_INSTRUCTIONS, 0xc0, 10000019, COUNT_NONE, 0);
	expect_count("known", "cpu", EVENT_CYCLES, 0x3c, 10000019, COUNT_NONE, 0);
	expect_count("known", "cpu", EVENT_STALLS, 0x140014a3, 10000019, COUNT_STALLS_LOAD, 0);
	expect_count("known", "cpu", EVENT_MISSES, 0x412e, 50021, COUNT_MISSES_L3, 0);
	cr_expect_not_null(machine_tree_refusal(&plan, "cpu", EVENT_LOADS));
	cr_expect_not_null(machine_tree_refusal(&plan, "cpu", EVENT_STORES));

	machine_fixture_tree(&generic);
	machine_plan(root, all, &plan);
	expect_count("generic", "cpu", EVENT_INSTRUCTIONS, 0xc0, 10000019, COUNT_NONE, 0);
	expect_count("generic", "cpu", EVENT_CYCLES, 0x3c, 10000019, COUNT_NONE, 0);
	expect_count("generic", "cpu", EVENT_MISSES, 0x412e, 50021, COUNT_MISSES_L3, 0);
	expect_refused("cpu", EVENT_STALLS,
		       "this kernel does not know the CPU model (caps/pmu_name is generic_arch_v2+)");

	machine_fixture_tree(&later);
	machine_plan(root, all, &plan);
	expect_count("later", "cpu", EVENT_CYCLES, 0x3c, 10000019, COUNT_NONE, 0);
	expect_refused("cpu", EVENT_STALLS,
		       "does not know the event of stalls on this CPU (caps/pmu_name is not_yet_named)");

	machine_fixture_tree(&nameless);
	machine_plan(root, all, &plan);
	expect_count("nameless", "cpu", EVENT_MISSES, 0x412e, 50021, COUNT_MISSES_L3, 0);
	expect_refused("cpu", EVENT_STALLS, "the CPU generation is unknown (caps/pmu_name is missing)");
}

/* CPUID 0AH says that the event is not available, so the kernel leaves its file out. */
Test(pmu_counts, misses_that_cpuid_excludes_are_refused)
{
	tree_pmu(root, "cpu", "type", "4\n");
	tree_pmu(root, "cpu", "format/event", "config:0-7\n");
	tree_pmu(root, "cpu", "format/umask", "config:8-15\n");
	tree_pmu(root, "cpu", "format/pc", "config:19\n");
	tree_pmu(root, "cpu", "events/cpu-cycles", "event=0x3c\n");
	machine_plan(root, COUNT_ROLES, &plan);
	expect_count("", "cpu", EVENT_CYCLES, 0x3c, 10000019, COUNT_NONE, 0);
	expect_refused("cpu", EVENT_MISSES, "events/cache-misses is missing");
}

Test(pmu_counts, without_l3_the_last_level_is_l2)
{
	const struct machine_core core = {.name = "Tremont"};

	machine_fixture_tree(&core);
	tree_write(root, "devices/system/cpu/cpu0/cache/index2/level", "2\n");
	machine_plan(root, COUNT_ROLES, &plan);
	expect_count("Tremont", "cpu", EVENT_MISSES, 0x412e, 50021, COUNT_MISSES_L2, 0);
	tree_write(root, "devices/system/cpu/cpu0/cache/index3/level", "3\n");
	machine_plan(root, COUNT_ROLES, &plan);
	expect_count("Tremont", "cpu", EVENT_MISSES, 0x412e, 50021, COUNT_MISSES_L3, 0);
}

Test(pmu_counts, amd_has_encodings_by_family_and_model)
{
	static const struct {
		const char *modalias;
		u64 stalls, misses; /* 0: refused */
		enum count_kind misses_kind;
	} cases[] = {
		{"cpu:type:x86,ven0002fam0015mod0002:feature:,0000\n", 0, 0, COUNT_NONE},
		{"cpu:type:x86,ven0002fam0017mod0001:feature:,0000\n", 0, 0, COUNT_NONE},
		{"cpu:type:x86,ven0002fam0017mod0018:feature:,0000\n", 0, 0, COUNT_NONE},
		{"cpu:type:x86,ven0002fam0017mod0031:feature:,0000\n", 0, 0x4843, COUNT_MISSES_DEMAND_FILLS},
		{"cpu:type:x86,ven0002fam0017mod00A0:feature:,0000\n", 0, 0x4843, COUNT_MISSES_DEMAND_FILLS},
		{"cpu:type:x86,ven0002fam0019mod0001:feature:,0000\n", 0, 0x4844, COUNT_MISSES_FILLS},
		{"cpu:type:x86,ven0002fam0019mod0021:feature:,0000\n", 0, 0x4844, COUNT_MISSES_FILLS},
		{"cpu:type:x86,ven0002fam0019mod0050:feature:,0000\n", 0, 0x4844, COUNT_MISSES_FILLS},
		{"cpu:type:x86,ven0002fam0019mod0011:feature:,0000\n", 0xa2d6, 0x4844, COUNT_MISSES_FILLS},
		{"cpu:type:x86,ven0002fam0019mod0061:feature:,0000\n", 0xa2d6, 0x4844, COUNT_MISSES_FILLS},
		{"cpu:type:x86,ven0002fam001Amod0002:feature:,0000\n", 0xa2d6, 0x4844, COUNT_MISSES_FILLS},
		{"cpu:type:x86,ven0002fam001Bmod0002:feature:,0000\n", 0, 0, COUNT_NONE},
		{"cpu:type:x86,ven0009fam0018mod0001:feature:,0000\n", 0, 0, COUNT_NONE},
	};

	machine_tree_amd(root, true);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = cases[i].modalias;

		tree_write(root, "devices/system/cpu/modalias", name);
		machine_plan(root, COUNT_ROLES, &plan);
		cr_expect_null(machine_spec(&plan, "ibs_op", EVENT_CYCLES));
		expect_count(name, "cpu", EVENT_CYCLES, 0x76, 10000019, COUNT_NONE, 0);
		if (cases[i].stalls)
			expect_count(name, "cpu", EVENT_STALLS, cases[i].stalls, 10000019,
				     COUNT_STALLS_RETIRE, 0);
		else
			expect_refused("cpu", EVENT_STALLS, "AMD's CPUs have one from Zen 4 on");
		if (cases[i].misses)
			expect_count(name, "cpu", EVENT_MISSES, cases[i].misses, 50021, cases[i].misses_kind,
				     0);
		else
			expect_refused("cpu", EVENT_MISSES, "AMD's CPUs have one from Zen 2 on");
	}
	tree_write(root, "devices/system/cpu/modalias", "cpu:type:x86,ven0002fam0015mod0002:feature:\n");
	machine_plan(root, ROLE(STALLS), &plan);
	expect_refused("cpu", EVENT_STALLS, "vendor 2, family 15h, model 2h");
}

Test(pmu_counts, an_amd_tree_without_modalias_says_so)
{
	machine_tree_amd(root, false);
	machine_plan(root, COUNT_ROLES, &plan);
	expect_count("", "cpu", EVENT_CYCLES, 0x76, 10000019, COUNT_NONE, 0);
	expect_refused("cpu", EVENT_STALLS, "devices/system/cpu/modalias: No such file or directory");
	expect_refused("cpu", EVENT_MISSES, "copy the whole tree");
	tree_write(root, "devices/system/cpu/modalias", "cpu:type:aarch64:feature:,0000\n");
	machine_plan(root, COUNT_ROLES, &plan);
	expect_refused("cpu", EVENT_STALLS, "not the text of an x86 CPU");
}

Test(pmu_counts, modalias_is_parsed_strictly)
{
	static const char *const wrong[] = {
		"",
		"cpu:type:x86",
		"cpu:type:x86,ven0002fam0019mod001",
		"cpu:type:x86,ven0002fam0019mod0011",
		"cpu:type:x86,ven0002fam0019mod00111:",
		"cpu:type:x86,ven2fam19mod11:feature:",
		"cpu:type:x86,ven0002fam0019mod+011:",
		"cpu:type:x86,ven0002fam0x19mod0011:",
		"acpu:type:x86,ven0002fam0019mod0011:",
	};
	struct pmu_cpu cpu = {0};

	cr_assert_eq(pmu_cpu_parse("cpu:type:x86,ven0002fam001Amod0abC:feature:,0000", &cpu), 0);
	cr_expect_eq(cpu.vendor, 2);
	cr_expect_eq(cpu.family, 0x1a);
	cr_expect_eq(cpu.model, 0xabc);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		cr_expect_lt(pmu_cpu_parse(wrong[i], &cpu), 0, "%s", wrong[i]);
	cr_expect_eq(cpu.model, 0xabc, "unchanged");
}

Test(pmu_counts, cores_without_known_events_are_refused_by_name)
{
	tree_pmu(root, "cpu", "type", "4\n");
	tree_pmu(root, "cpu", "format/cccr", "config:0-31\n");
	tree_pmu(root, "cpu", "events/instructions", "escr=0xc0\n");
	machine_plan(root, COUNT_ROLES, &plan);
	for (enum event_role role = EVENT_CYCLES; role <= EVENT_MISSES; role++)
		expect_refused("cpu", role,
			       "this is NetBurst (format/cccr), whose events are selected in another way");

	tree_remove(root);
	root = tree_new();
	tree_pmu(root, "cpu", "type", "4\n");
	tree_pmu(root, "cpu", "format/event", "config:0-7\n");
	tree_pmu(root, "cpu", "format/umask", "config:8-15\n");
	tree_pmu(root, "cpu", "format/cmask", "config:24-31\n");
	tree_pmu(root, "cpu", "events/instructions", "event=0xc0\n");
	machine_plan(root, COUNT_ROLES, &plan);
	for (enum event_role role = EVENT_CYCLES; role <= EVENT_MISSES; role++)
		expect_refused("cpu", role, "does not know its events");

	tree_remove(root);
	root = tree_new();
	tree_pmu(root, "armv8_pmuv3_0", "type", "10\n");
	tree_pmu(root, "arm_spe_0", "type", "9\n");
	machine_plan(root, COUNT_ROLES, &plan);
	for (enum event_role role = EVENT_CYCLES; role <= EVENT_MISSES; role++) {
		expect_refused("armv8_pmuv3_0", role, "knows only the events of x86 CPUs");
		expect_refused("arm_spe_0", role, "a BPF program attached to it never runs");
	}
	cr_expect_eq(plan.n_specs, 0);
}

/* The formats decide where the terms go. */
Test(pmu_counts, terms_are_placed_by_the_formats)
{
	const struct machine_core core = {.name = "skylake", .loads = LOADS_CORE};

	machine_fixture_tree(&core);
	tree_pmu(root, "cpu", "format/cmask", "config1:0-7\n");
	machine_plan(root, ROLE(STALLS), &plan);
	cr_assert_eq(plan.n_specs, 1);
	cr_expect_eq(plan.specs[0].config, 0x14a3);
	cr_expect_eq(plan.specs[0].config1, 0x14);
	tree_pmu(root, "cpu", "format/cmask", "config:24-25\n");
	machine_plan(root, COUNT_ROLES, &plan);
	expect_refused("cpu", EVENT_STALLS, "cannot build the event stalls because of \"cmask\"");
	expect_count("", "cpu", EVENT_CYCLES, 0x3c, 10000019, COUNT_NONE, 0);
}

Test(pmu_counts, each_role_has_its_own_period)
{
	const struct machine_core core = {.name = "haswell", .loads = LOADS_CORE, .stores = STORES_ALL};
	const struct pmu_request request = {
		.ldlat = 30,
		.roles = ROLE(LOADS) | ROLE(STORES) | ROLE(INSTRUCTIONS) | COUNT_ROLES,
		.periods =
			{.accesses = 101, .instructions = 1009, .cycles = 2003, .stalls = 3001, .misses = 7},
	};

	machine_fixture_tree(&core);
	cr_assert_eq(pmu_plan(root, &request, &plan), 0);
	cr_assert_eq(plan.n_specs, 6);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_LOADS)->event.period, 101);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_STORES)->event.period, 101);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_INSTRUCTIONS)->event.period, 1009);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_CYCLES)->event.period, 2003);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_STALLS)->event.period, 3001);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_MISSES)->event.period, 32, "Haswell's minimum");
	cr_expect_not_null(machine_note(&plan, "the period of misses is 32, not 7"));
}

/*
 * Before Skylake, the interrupt of another event makes the kernel drop a record, unless only one bit of pebs_enabled is
 * set. Load latency and the precise store set two bits, Haswell's stores one. Counts have no record.
 */
Test(pmu_counts, before_skylake_loads_and_precise_stores_collide_with_counts)
{
	const struct machine_core core = {.name = "haswell", .loads = LOADS_CORE, .stores = STORES_ALL};
	const struct machine_core ivy = {.name = "ivybridge", .loads = LOADS_CORE, .stores = STORES_CD};
	const struct machine_core later = {.name = "skylake", .loads = LOADS_CORE, .stores = STORES_ALL};

	machine_fixture_tree(&core);
	machine_plan(root, ROLE(LOADS) | COUNT_ROLES, &plan);
	cr_assert_eq(plan.n_specs, 4);
	for (size_t i = 0; i < plan.n_specs; i++)
		cr_expect_eq(plan.specs[i].collides, plan.specs[i].event.role == EVENT_LOADS);
	machine_plan(root, ROLE(STORES) | COUNT_ROLES, &plan);
	cr_expect_not(machine_spec(&plan, "cpu", EVENT_STORES)->collides);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_STORES)->event.period, 10007, "that of stores alone");
	machine_plan(root, ROLE(LOADS), &plan);
	cr_expect_not(machine_spec(&plan, "cpu", EVENT_LOADS)->collides);

	machine_fixture_tree(&ivy);
	machine_plan(root, ROLE(STORES) | ROLE(MISSES), &plan);
	cr_expect(machine_spec(&plan, "cpu", EVENT_STORES)->collides);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_STORES)->event.period, 1000003);
	machine_plan(root, ROLE(LOADS) | ROLE(STORES) | ROLE(CYCLES), &plan);
	cr_expect(machine_spec(&plan, "cpu", EVENT_LOADS)->collides, "although it takes turns with stores");
	cr_expect(machine_spec(&plan, "cpu", EVENT_STORES)->collides);

	machine_fixture_tree(&later);
	machine_plan(root, ROLE(LOADS) | COUNT_ROLES, &plan);
	for (size_t i = 0; i < plan.n_specs; i++)
		cr_expect_not(plan.specs[i].collides);
}

/* Returns the roles that have an event on the PMU. */
static unsigned planned_on(const char *pmu)
{
	unsigned roles = 0;

	for (size_t i = 0; i < plan.n_specs; i++)
		if (strcmp(plan.specs[i].event.pmu, pmu) == 0)
			roles |= 1U << plan.specs[i].event.role;
	return roles;
}

/* Expects these roles on the PMU with `events = auto`. Events that only count come last in the plan. */
static void expect_auto(const char *name, const char *pmu, unsigned roles)
{
	bool counts = false;

	machine_plan_auto(root, &plan);
	cr_expect(plan.automatic);
	cr_expect_eq(planned_on(pmu), roles, "%s, %s: %#x", name, pmu, planned_on(pmu));
	for (size_t i = 0; i < plan.n_specs; i++) {
		const struct event_spec *spec = &plan.specs[i];

		cr_expect_not(spec->collides, "%s", name);
		cr_expect(!counts || event_is_count(&spec->event), "%s: a count before %s", name,
			  event_role_name(spec->event.role));
		counts = counts || event_is_count(&spec->event);
	}
	if (roles & ROLE(INSTRUCTIONS))
		expect_count(name, pmu, EVENT_INSTRUCTIONS, 0xc0, 10000019, COUNT_NONE, 0);
	/* What is missing has its reason. */
	for (enum event_role role = 0; role < EVENT_ROLES; role++)
		if (EVENT_ROLES_AUTO & ~roles & 1U << role)
			cr_expect_not_null(machine_tree_refusal(&plan, pmu, role), "%s: %s", name,
					   event_role_name(role));
}

#define PLAIN_ROLES (COUNT_ROLES | ROLE(INSTRUCTIONS))

Test(pmu_counts, auto_on_a_core_with_pebs_takes_loads_and_counts)
{
	static const struct machine_core cores[] = {
		{.name = "skylake", .loads = LOADS_CORE, .stores = STORES_ALL},
		{.name = "icelake", .loads = LOADS_CORE, .stores = STORES_ALL},
		{.name = "sapphire_rapids",
		 .loads = LOADS_CORE,
		 .stores = STORES_CD,
		 .auxiliary = LOADS_AUXILIARY},
		{.name = "crestmont", .loads = LOADS_ATOM, .stores = STORES_ATOM},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cores); i++) {
		machine_fixture_tree(&cores[i]);
		expect_auto(cores[i].name, "cpu", ROLE(LOADS) | PLAIN_ROLES);
		cr_expect_eq(plan.n_refusals, 0, "%s", cores[i].name);
		cr_expect(plan.specs[0].pinned, "%s", cores[i].name);
	}
}

/* The same role has another form if it is named: it is precise then. */
Test(pmu_counts, requested_instructions_stay_precise)
{
	const struct machine_core core = {.name = "skylake", .loads = LOADS_CORE, .stores = STORES_ALL};

	machine_fixture_tree(&core);
	machine_plan(root, EVENT_ROLES_AUTO, &plan);
	cr_expect_gt(machine_spec(&plan, "cpu", EVENT_INSTRUCTIONS)->precise_ip, 0);
	cr_expect(machine_spec(&plan, "cpu", EVENT_INSTRUCTIONS)->pinned);
	machine_plan_auto(root, &plan);
	cr_expect_eq(machine_spec(&plan, "cpu", EVENT_INSTRUCTIONS)->precise_ip, 0);
}

/* There the interrupts of counts make the kernel drop records of loads. */
Test(pmu_counts, before_skylake_auto_omits_events_that_collide_with_loads)
{
	static const char *const names[] = {"nehalem",   "westmere", "sandybridge",
					    "ivybridge", "haswell",  "broadwell"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct machine_core core = {.name = names[i], .loads = LOADS_CORE};

		machine_fixture_tree(&core);
		expect_auto(names[i], "cpu", ROLE(LOADS));
		for (enum event_role role = EVENT_CYCLES; role <= EVENT_MISSES; role++)
			expect_refused("cpu", role,
				       "name the events in `events` of [sampling], after `loads`");
		expect_refused("cpu", EVENT_INSTRUCTIONS, "counts cost samples of loads");
	}
}

/* Without PEBS, as in most virtual machines, no record can be lost. */
Test(pmu_counts, auto_without_loads_uses_counts)
{
	static const struct {
		const char *name;
		unsigned roles;
	} cases[] = {
		{"haswell", PLAIN_ROLES},
		{"skylake", PLAIN_ROLES},
		{"nehalem", PLAIN_ROLES & ~ROLE(STALLS)},
		{"silvermont", PLAIN_ROLES & ~ROLE(STALLS)},
		{"goldmont", PLAIN_ROLES & ~ROLE(STALLS)},
		{"generic_arch_v2+", PLAIN_ROLES & ~ROLE(STALLS)},
		{NULL, PLAIN_ROLES & ~ROLE(STALLS)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct machine_core core = {.name = cases[i].name, .precise = "0"};

		machine_fixture_tree(&core);
		expect_auto(cases[i].name ? cases[i].name : "nameless", "cpu", cases[i].roles);
	}
}

Test(pmu_counts, auto_on_hybrid_cpus_puts_the_loads_of_all_cores_first)
{
	const struct machine_core cores[] = {
		{.pmu = "cpu_atom", .name = "meteorlake_hybrid", .cpus = "2", .loads = LOADS_ATOM},
		{.pmu = "cpu_core", .name = "meteorlake_hybrid", .cpus = "0-1", .loads = LOADS_CORE},
		{.pmu = "cpu_lowpower", .name = "meteorlake_hybrid", .cpus = "3", .loads = LOADS_ATOM},
	};

	machine_tree_hybrid(root, cores, ARRAY_SIZE(cores));
	expect_auto(cores[0].name, cores[0].pmu, ROLE(LOADS) | PLAIN_ROLES);
	expect_auto(cores[1].name, cores[1].pmu, ROLE(LOADS) | PLAIN_ROLES);
	/* pebsd samples at most 12 events. */
	expect_auto(cores[2].name, cores[2].pmu, ROLE(LOADS) | ROLE(INSTRUCTIONS));
	cr_assert_eq(plan.n_specs, EVENTS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(cores); i++) {
		cr_expect_eq(plan.specs[i].event.role, EVENT_LOADS);
		cr_expect_str_eq(plan.specs[i].event.pmu, cores[i].pmu);
	}
}

Test(pmu_counts, auto_on_amd_takes_loads_from_ibs_and_counts_from_the_core)
{
	static const struct {
		const char *modalias;
		unsigned roles;
	} cases[] = {
		{"cpu:type:x86,ven0002fam0017mod0001:feature:,0000\n", ROLE(CYCLES) | ROLE(INSTRUCTIONS)},
		{"cpu:type:x86,ven0002fam0019mod0001:feature:,0000\n",
		 ROLE(CYCLES) | ROLE(INSTRUCTIONS) | ROLE(MISSES)},
		{"cpu:type:x86,ven0002fam0019mod0011:feature:,0000\n", PLAIN_ROLES},
		{"cpu:type:x86,ven0002fam001Amod0002:feature:,0000\n", PLAIN_ROLES},
	};

	machine_tree_amd(root, true);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		tree_write(root, "devices/system/cpu/modalias", cases[i].modalias);
		expect_auto(cases[i].modalias, "cpu", cases[i].roles);
		cr_expect_eq(planned_on("ibs_op"), ROLE(LOADS));
		cr_expect_eq(plan.specs[0].event.role, EVENT_LOADS, "continues the sums of loads alone");
	}
}

Test(pmu_counts, auto_without_a_pmu_has_one_reason_for_all_roles)
{
	_cleanup_free_ char *reasons = NULL;

	machine_plan_auto(root, &plan);
	cr_expect_eq(plan.n_specs, 0);
	reasons = pmu_plan_refusals(&plan, EVENT_ROLES_AUTO);
	cr_expect_eq(strncmp(reasons, "cpu: cannot read ", 17), 0, "%s", reasons);
	cr_expect_null(strstr(reasons + 1, "cpu: "), "%s", reasons);
	tree_write(root, "bus/event_source/devices/software/type", "1\n");
	machine_plan_auto(root, &plan);
	free(reasons);
	reasons = pmu_plan_refusals(&plan, EVENT_ROLES_AUTO);
	cr_expect_eq(strncmp(reasons, "cpu: there is no core PMU", 25), 0, "%s", reasons);
}

/* Three PMUs with six events each are more than pebsd samples. */
Test(pmu_counts, events_beyond_the_maximum_are_refused)
{
	const struct machine_core cores[] = {
		{.pmu = "cpu_atom",
		 .name = "later_hybrid",
		 .cpus = "1",
		 .loads = LOADS_ATOM,
		 .stores = STORES_ATOM},
		{.pmu = "cpu_core",
		 .name = "later_hybrid",
		 .cpus = "0",
		 .loads = LOADS_CORE,
		 .stores = STORES_CD},
		{.pmu = "cpu_lowpower",
		 .name = "later_hybrid",
		 .cpus = "2",
		 .loads = LOADS_ATOM,
		 .stores = STORES_ATOM},
	};

	machine_tree_hybrid(root, cores, 3);
	machine_plan(root, ALL_ROLES | COUNT_ROLES, &plan);
	cr_expect_eq(plan.n_specs, EVENTS_MAX);
	expect_refused("cpu_lowpower", EVENT_MISSES, "pebsd samples at most 12 events at once");
}

Test(pmu_counts, the_attributes_ask_for_nothing_but_the_count)
{
	const struct machine_core core = {.name = "skylake", .loads = LOADS_CORE};
	struct perf_event_attr attr;
	struct event_spec weaker;

	machine_fixture_tree(&core);
	machine_plan(root, ROLE(STALLS), &plan);
	cr_assert_eq(plan.n_specs, 1);
	perf_attr(&plan.specs[0], plan.specs[0].event.period, &attr);
	cr_expect_eq(attr.type, 4);
	cr_expect_eq(attr.config, 0x140014a3);
	cr_expect_eq(attr.sample_type, 0);
	cr_expect_eq(attr.sample_period, 10000019);
	cr_expect_eq(attr.precise_ip, 0);
	cr_expect_eq(attr.pinned, 0);
	cr_expect_eq(attr.exclude_guest, 1);
	cr_expect_eq(attr.freq, 0);
	cr_expect_eq(attr.wakeup_events, 1);
	weaker = plan.specs[0];
	cr_expect_not(perf_attr_relax(&plan.specs[0], -EINVAL, &weaker));
	cr_expect_not(perf_attr_relax(&plan.specs[0], -EOPNOTSUPP, &weaker));
	cr_expect_not(perf_attr_relax(&plan.specs[0], -ENODATA, &weaker));
}
