// SPDX-License-Identifier: GPL-2.0
/* The off-core response counters of each generation, and the machines where they are refused. */
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine_fixture.h"
#include "tree.h"

TestSuite(pmu_offcore, .init = machine_fixture_start, .fini = machine_fixture_stop);

static void expect_refused(const char *pmu, const char *words)
{
	const char *reason = machine_tree_refusal(&plan, pmu, EVENT_OFFCORE);

	cr_expect_eq(plan.n_counters, 0);
	cr_assert_not_null(reason, "nothing said of %s", words);
	cr_expect_not_null(strstr(reason, words), "%s", reason);
}

/*
 * `taken` has the bits that the kernel accepts for the first register: *_extra_regs in intel/core.c, Linux
 * 6.12.
 */
static const struct generation {
	const char *name;
	u64 taken;
	u16 event;
	u64 l3, local, remote, outstanding;
	size_t kinds;
} generations[] = {
	{"nehalem", 0xffff, 0x1b7, 0x701, 0x4001, 0x3801, 0, 3},
	{"westmere", 0xffff, 0x1b7, 0x701, 0x5001, 0x2801, 0, 3},
	{"sandybridge", 0x3fffff8fff, 0x1b7, 0x3f803c0001, 0x780400001, 0x1fff800001, 0, 3},
	{"ivybridge", 0x3fffff8fff, 0x1b7, 0x3f803c0001, 0x780400001, 0x1fff800001, 0, 3},
	{"haswell", 0x3fffff8fff, 0x1b7, 0x3f803c0001, 0x780400001, 0x1fbf800001, 0, 3},
	{"broadwell", 0x3fffff8fff, 0x1b7, 0x3f803c0001, 0x784000001, 0x1fbbc00001, 0, 3},
	{"skylake", 0x3fffff8fff, 0x1b7, 0x3fc03c0001, 0x784000001, 0x1fbb800001, 0, 3},
	{"icelake", 0x3fffffbfff, 0x1b7, 0x3fc03c0001, 0x784000001, 0x1fb8000001, 0, 3},
	{"sapphire_rapids", 0x3fffffffff, 0x12a, 0x3f803c0001, 0x784000001, 0x1fb8000001, 0, 3},
	{"granite_rapids", 0x3fffffffff, 0x12a, 0x3f803c0001, 0x784000001, 0x1fb8000001, 0, 3},
	{"silvermont", 0x768005ffff, 0x1b7, 0, 0x280000001, 0, 0x4000000001, 3},
	{"goldmont", 0x760005ffbf, 0x1b7, 0, 0x200000001, 0, 0x4000000001, 3},
	{"goldmont_plus", 0x760005ffbf, 0x1b7, 0, 0x200000001, 0, 0x4000000001, 3},
	{"Tremont", 0x800ff0ffffff9fff, 0x1b7, 0x1f803c0001, 0x784000001, 0, 0x8000000000000001, 4},
	{"gracemont", 0x3fffffffff, 0x1b7, 0x3f803c0001, 0x784000001, 0x1fb8000001, 0, 3},
	{"crestmont", 0x800ff3ffffffffff, 0x1b7, 0x3f803c0001, 0x784000001, 0x1fb8000001, 0, 3},
};

static void expect_counter(const struct generation *generation, enum offcore_kind kind, u64 value)
{
	const struct pmu_counter *counter = machine_counter(&plan, "cpu", kind);

	if (!value) {
		cr_expect_null(counter, "%s, kind %d", generation->name, kind);
		return;
	}
	cr_assert_not_null(counter, "%s, kind %d", generation->name, kind);
	cr_expect_eq(counter->config, generation->event, "%s, kind %d: 0x%llx", generation->name, kind,
		     (unsigned long long)counter->config);
	cr_expect_eq(counter->config1, value, "%s, kind %d: 0x%llx", generation->name, kind,
		     (unsigned long long)counter->config1);
	cr_expect_eq(counter->config1 & ~generation->taken, 0, "%s, kind %d: 0x%llx", generation->name, kind,
		     (unsigned long long)counter->config1);
	cr_expect_eq(counter->type, 4);
	cr_expect(counter->cpus_known);
	cr_expect_eq(cpu_list_count(&counter->cpus), 4);
}

Test(pmu_offcore, each_generation_has_its_values)
{
	for (size_t i = 0; i < ARRAY_SIZE(generations); i++) {
		const struct generation *generation = &generations[i];
		const struct machine_core core = {.name = generation->name};
		const struct pmu_counter *requests;

		machine_fixture_tree(&core);
		machine_tree_two_nodes(root);
		machine_plan(root, ROLE(OFFCORE), &plan);
		cr_expect_eq(plan.n_specs, 0, "%s", generation->name);
		cr_expect_eq(plan.n_refusals, 0, "%s", generation->name);
		cr_expect_eq(plan.n_counters, generation->kinds, "%s", generation->name);
		expect_counter(generation, OFFCORE_L3, generation->l3);
		expect_counter(generation, OFFCORE_LOCAL_DRAM, generation->local);
		expect_counter(generation, OFFCORE_REMOTE_DRAM, generation->remote);
		expect_counter(generation, OFFCORE_OUTSTANDING, generation->outstanding);
		requests = machine_counter(&plan, "cpu", OFFCORE_REQUESTS);
		cr_expect_eq(requests != NULL, generation->outstanding != 0, "%s", generation->name);
		if (requests) {
			/* The requests need the event of the other register (MSR_OFFCORE_RSP_1). */
			cr_expect_eq(requests->config, 0x2b7, "%s", generation->name);
			cr_expect_eq(requests->config1, 0x10001, "%s", generation->name);
		}
	}
}

/* The suppliers of local memory, remote memory and L3 do not overlap, so that no read is counted twice. */
Test(pmu_offcore, kinds_do_not_overlap)
{
	const u64 suppliers = 0x7ffcULL << 16;

	for (size_t i = 2; i < ARRAY_SIZE(generations); i++) {
		const struct generation *generation = &generations[i];

		cr_expect_eq(generation->l3 & generation->local & suppliers, 0, "%s", generation->name);
		cr_expect_eq(generation->l3 & generation->remote & suppliers & ~(1ULL << 30), 0, "%s",
			     generation->name);
		/* Broadwell's remote suppliers include bit 22, which does not belong to its local memory. */
		cr_expect_eq(generation->local & generation->remote & suppliers, 0, "%s", generation->name);
	}
}

Test(pmu_offcore, with_one_node_there_is_no_remote_memory)
{
	const struct machine_core core = {.name = "skylake"};

	machine_fixture_tree(&core);
	machine_plan(root, ROLE(OFFCORE), &plan);
	cr_expect_eq(plan.n_counters, 2);
	cr_expect_null(machine_counter(&plan, "cpu", OFFCORE_REMOTE_DRAM));
	cr_expect_null(machine_note(&plan, "runs the counts in turns"));
}

Test(pmu_offcore, more_values_than_registers_are_multiplexed)
{
	const struct machine_core skylake = {.name = "skylake"};
	const struct machine_core nehalem = {.name = "nehalem"};
	const struct machine_core westmere = {.name = "westmere"};

	machine_fixture_tree(&skylake);
	machine_tree_two_nodes(root);
	machine_plan(root, ROLE(OFFCORE), &plan);
	cr_expect_not_null(machine_note(&plan, "3 off-core response counts share 2 registers"));
	machine_fixture_tree(&nehalem);
	machine_plan(root, ROLE(OFFCORE), &plan);
	cr_expect_not_null(machine_note(&plan, "2 off-core response counts share 1 register,"));
	machine_fixture_tree(&westmere);
	machine_plan(root, ROLE(OFFCORE), &plan);
	cr_expect_not_null(machine_note(&plan, "the register has one bit for both"));
}

Test(pmu_offcore, the_format_places_the_register)
{
	const struct machine_core core = {.name = "skylake"};

	machine_fixture_tree(&core);
	tree_pmu(root, "cpu", "format/offcore_rsp", "config2:0-63\n");
	tree_pmu(root, "cpu", "type", "9\n");
	machine_plan(root, ROLE(OFFCORE), &plan);
	/* pmu_counter has no config2, so a field outside of config1 cannot be opened. */
	expect_refused("cpu", "config1");
	tree_pmu(root, "cpu", "format/offcore_rsp", "config1:0-31\n");
	machine_plan(root, ROLE(OFFCORE), &plan);
	expect_refused("cpu", "more bits than its format");
}

Test(pmu_offcore, hybrid_cores_have_their_own_values)
{
	const struct machine_core atom = {
		.pmu = "cpu_atom", .name = "alderlake_hybrid", .type = "10", .cpus = "2-9"};
	const struct machine_core core = {.pmu = "cpu_core", .name = "alderlake_hybrid", .cpus = "0-1"};

	machine_fixture_tree(&atom);
	machine_tree(root, &core);
	machine_plan(root, ROLE(OFFCORE), &plan);
	cr_assert_eq(plan.n_counters, 4);
	cr_expect_eq(machine_counter(&plan, "cpu_atom", OFFCORE_L3)->config, 0x1b7);
	cr_expect_eq(machine_counter(&plan, "cpu_atom", OFFCORE_L3)->type, 10);
	cr_expect_eq(machine_counter(&plan, "cpu_core", OFFCORE_L3)->config, 0x12a);
	cr_expect(cpu_list_has(&machine_counter(&plan, "cpu_atom", OFFCORE_L3)->cpus, 3));
	cr_expect_not(cpu_list_has(&machine_counter(&plan, "cpu_atom", OFFCORE_L3)->cpus, 1));
	cr_expect(machine_counter(&plan, "cpu_atom", OFFCORE_L3)->has_members);
	cr_expect(cpu_list_has(&machine_counter(&plan, "cpu_atom", OFFCORE_L3)->members, 9));
	cr_expect(strstr(machine_counter(&plan, "cpu_atom", OFFCORE_L3)->members_source.path,
			 "/cpu_atom/cpus"));
}

Test(pmu_offcore, cores_without_a_row_are_refused_by_name)
{
	static const struct {
		struct machine_core core;
		const char *words;
	} cases[] = {
		{{.name = "lunarlake_hybrid"}, "caps/pmu_name is lunarlake_hybrid"},
		{{.name = "not_yet_named"}, "caps/pmu_name is not_yet_named"},
		{{.name = NULL}, "a core without caps/pmu_name"},
		{{.name = "knights-landing"}, "caps/pmu_name is knights-landing"},
		{{.name = "core2", .no_offcore = true}, "format/offcore_rsp is missing"},
		{{.name = "generic_arch_v5+", .no_offcore = true}, "does not know the CPU model"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		machine_fixture_tree(&cases[i].core);
		machine_plan(root, ROLE(OFFCORE), &plan);
		expect_refused("cpu", cases[i].words);
	}
	machine_fixture_tree(&(const struct machine_core){.name = "panthercove", .no_offcore = true});
	tree_pmu(root, "cpu", "format/offmodule_rsp", "config1:0-63\n");
	machine_plan(root, ROLE(OFFCORE), &plan);
	expect_refused("cpu", "format/offmodule_rsp");
}

Test(pmu_offcore, amd_has_no_off_core_counters)
{
	machine_tree_amd(root, false);
	machine_plan(root, ROLE(OFFCORE), &plan);
	expect_refused("cpu", "cannot count off-core responses");
	expect_refused("ibs_op", "cannot count off-core responses");
}
