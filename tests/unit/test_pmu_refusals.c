// SPDX-License-Identifier: GPL-2.0
/* Machines that cannot sample memory. Each is refused by name, with the reason and the remedy. */
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine_fixture.h"
#include "tree.h"

TestSuite(pmu_refusals, .init = machine_fixture_start, .fini = machine_fixture_stop);

static void expect_refused(const char *pmu, enum event_role role, const char *words)
{
	const char *reason = machine_tree_refusal(&plan, pmu, role);

	cr_expect_null(machine_spec(&plan, pmu, role), "%s", words);
	cr_assert_not_null(reason, "nothing said of %s", words);
	cr_expect_not_null(strstr(reason, words), "%s", reason);
}

Test(pmu_refusals, cores_without_load_latency_are_refused)
{
	static const struct {
		const char *name, *precise, *words;
	} cases[] = {
		{"core2", "2", "records registers, but neither address nor latency nor source"},
		{"bonnell", "2", "records registers"},
		{"silvermont", "2", "records the address of an access, but neither latency nor source"},
		{"knights-landing", "2", "records the address of an access, but neither latency nor source"},
		{"goldmont", "3", "records the address of an access, but neither latency nor source"},
		{"goldmont_plus", "3", "records the address of an access, but neither latency nor source"},
		{"Tremont", "3", "records the address of an access, but neither latency nor source"},
		{"generic_arch_v5+", "3", "does not know the CPU model (caps/pmu_name is generic_arch_v5+)"},
		{"generic_arch_v2+", "0", "does not know the CPU model"},
		{"not_yet_named", "3", "the kernel is older than the CPU model"},
		{"not_yet_named", "0", "it has no PEBS"},
		{NULL, "0", "it has no PEBS"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct machine_core core = {.name = cases[i].name, .precise = cases[i].precise};

		tree_remove(root);
		root = tree_new();
		machine_tree(root, &core);
		machine_plan(root, ROLE(LOADS) | ROLE(STORES), &plan);
		cr_expect_eq(plan.n_specs, 0);
		cr_expect_eq(plan.n_refusals, 2);
		expect_refused("cpu", EVENT_LOADS, cases[i].words);
		expect_refused("cpu", EVENT_STORES, cases[i].words);
		if (cases[i].name)
			cr_expect(strstr(plan.refusals[0].reason, cases[i].name) ||
					  strcmp(cases[i].precise, "0") == 0,
				  "%s", plan.refusals[0].reason);
	}
}

/* A newer kernel alone does not help a virtual machine without PEBS. */
Test(pmu_refusals, unknown_cpu_model_without_pebs_may_be_a_virtual_machine)
{
	const struct machine_core guest = {.name = "generic_arch_v2+", .precise = "0", .no_offcore = true};
	const struct machine_core newer = {.name = "generic_arch_v5+", .precise = "3", .no_offcore = true};
	const char *words = "a virtual machine whose virtual PMU has no PEBS";

	machine_tree(root, &guest);
	machine_plan(root, ALL_ROLES, &plan);
	cr_expect_eq(plan.n_specs, 1);
	cr_expect_not_null(machine_spec(&plan, "cpu", EVENT_INSTRUCTIONS), "which need no PEBS");
	cr_expect_eq(plan.n_refusals, 3);
	for (enum event_role role = 0; role <= EVENT_OFFCORE; role++) {
		if (role == EVENT_INSTRUCTIONS)
			continue;
		expect_refused("cpu", role,
			       "does not know the CPU model (caps/pmu_name is generic_arch_v2+)");
		expect_refused("cpu", role, "try a newer kernel");
		if (role == EVENT_OFFCORE)
			continue;
		expect_refused("cpu", role, words);
		expect_refused("cpu", role, "run pebsd on the host, give the guest PEBS");
	}
	cr_expect_null(strstr(machine_tree_refusal(&plan, "cpu", EVENT_OFFCORE), words));

	tree_remove(root);
	root = tree_new();
	machine_tree(root, &newer);
	machine_plan(root, ROLE(LOADS), &plan);
	expect_refused("cpu", EVENT_LOADS, "events/mem-loads is missing; try a newer kernel");
	cr_expect_null(strstr(machine_tree_refusal(&plan, "cpu", EVENT_LOADS), words));
}

/* Goldmont's PEBS lacks the data source, but Goldmont can count off-core responses. */
Test(pmu_refusals, goldmont_can_still_count)
{
	const struct machine_core core = {.name = "goldmont"};

	machine_tree(root, &core);
	machine_plan(root, ALL_ROLES, &plan);
	cr_expect_eq(plan.n_refusals, 2);
	cr_assert_eq(plan.n_specs, 1);
	cr_expect_eq(plan.specs[0].event.role, EVENT_INSTRUCTIONS);
	cr_expect_eq(plan.n_counters, 3);
}

Test(pmu_refusals, virtual_machines_and_old_microcode_are_explained)
{
	/* A virtual PMU without PEBS: it has the formats of Skylake, but not the events. */
	const struct machine_core guest = {.name = "skylake", .precise = "0"};

	machine_tree(root, &guest);
	tree_pmu(root, "cpu", "format/ldlat", "config1:0-15\n");
	machine_plan(root, ROLE(LOADS) | ROLE(STORES), &plan);
	cr_expect_eq(plan.n_specs, 0);
	expect_refused("cpu", EVENT_LOADS, "events/mem-loads is missing");
	expect_refused("cpu", EVENT_STORES, "events/mem-stores is missing");
	for (size_t i = 0; i < plan.n_refusals; i++) {
		cr_expect_not_null(strstr(plan.refusals[i].reason, "the microcode is too old"));
		cr_expect_not_null(strstr(plan.refusals[i].reason, "-cpu host,pmu=on"));
	}
}

Test(pmu_refusals, without_a_pmu_each_role_has_its_own_refusal)
{
	tree_pmu(root, "software", "type", "1\n");
	machine_plan(root, ALL_ROLES | COUNT_ROLES, &plan);
	cr_expect_eq(plan.n_specs, 0);
	cr_assert_eq(plan.n_refusals, 7);
	for (enum event_role role = 0; role < EVENT_ROLES; role++)
		expect_refused("cpu", role, "a virtual machine without a virtual PMU");
}

Test(pmu_refusals, netburst_is_refused)
{
	tree_pmu(root, "cpu", "type", "4\n");
	tree_pmu(root, "cpu", "format/cccr", "config:0-31\n");
	tree_pmu(root, "cpu", "format/escr", "config:32-62\n");
	tree_pmu(root, "cpu", "events/instructions", "escr=0xc0\n");
	machine_plan(root, ROLE(LOADS) | ROLE(STORES) | ROLE(INSTRUCTIONS), &plan);
	cr_expect_eq(plan.n_specs, 0);
	for (enum event_role role = EVENT_LOADS; role <= EVENT_INSTRUCTIONS; role++)
		expect_refused("cpu", role, "this is NetBurst");
}

Test(pmu_refusals, zhaoxin_is_refused)
{
	tree_pmu(root, "cpu", "type", "4\n");
	tree_pmu(root, "cpu", "format/event", "config:0-7\n");
	tree_pmu(root, "cpu", "format/umask", "config:8-15\n");
	tree_pmu(root, "cpu", "format/cmask", "config:24-31\n");
	tree_pmu(root, "cpu", "events/instructions", "event=0xc0\n");
	tree_pmu(root, "cpu", "caps/max_precise", "0\n");
	machine_plan(root, ALL_ROLES, &plan);
	cr_expect_eq(plan.n_specs, 0);
	cr_expect_eq(plan.n_counters, 0);
	for (enum event_role role = EVENT_LOADS; role <= EVENT_INSTRUCTIONS; role++)
		expect_refused("cpu", role, "this is a Zhaoxin CPU");
	expect_refused("cpu", EVENT_OFFCORE, "format/offcore_rsp is missing");
}

Test(pmu_refusals, arm_is_refused)
{
	tree_pmu(root, "arm_spe_0", "type", "9\n");
	tree_pmu(root, "armv8_pmuv3_0", "type", "10\n");
	machine_plan(root, ROLE(LOADS) | ROLE(INSTRUCTIONS), &plan);
	cr_expect_eq(plan.n_specs, 0);
	expect_refused("arm_spe_0", EVENT_LOADS, "a BPF program attached to it never runs");
	expect_refused("arm_spe_0", EVENT_INSTRUCTIONS, "a BPF program attached to it never runs");
	expect_refused("armv8_pmuv3_0", EVENT_LOADS, "neither latency nor source");
	expect_refused("armv8_pmuv3_0", EVENT_INSTRUCTIONS, "do not sample instructions precisely");
}

Test(pmu_refusals, a_copied_tree_without_events_is_explained)
{
	tree_pmu(root, "cpu", "type", "4\n");
	tree_pmu(root, "cpu", "caps/pmu_name", "skylake\n");
	machine_plan(root, ALL_ROLES | COUNT_ROLES, &plan);
	cr_expect_eq(plan.n_specs, 0);
	cr_expect_eq(plan.n_counters, 0);
	cr_expect_eq(plan.n_refusals, 7);
	for (enum event_role role = 0; role < EVENT_ROLES; role++)
		expect_refused("cpu", role, "the sysfs tree lacks the directory events/ of this PMU");
}

Test(pmu_refusals, refusals_are_joined_into_one_text)
{
	_cleanup_free_ char *none = pmu_plan_refusals(&plan, ROLE(LOADS)), *one = NULL, *several = NULL;

	cr_expect_str_eq(none, "");
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu_core", EVENT_LOADS, "it is off"), 0);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu_core", EVENT_STORES, "it has none"), 0);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu_atom", EVENT_LOADS, "it is %s", "slow"), 0);
	one = pmu_plan_refusals(&plan, ROLE(LOADS));
	cr_expect_str_eq(one, "cpu_core: it is off. cpu_atom: it is slow");
	several = pmu_plan_refusals(&plan, ROLE(LOADS) | ROLE(STORES) | ROLE(OFFCORE));
	cr_expect_str_eq(
		several,
		"loads on cpu_core: it is off. stores on cpu_core: it has none. loads on cpu_atom: it is slow");
}

Test(pmu_refusals, roles_with_one_reason_are_named_together)
{
	_cleanup_free_ char *some = NULL, *all = NULL;

	cr_assert_eq(pmu_plan_refuse(&plan, "cpu", EVENT_LOADS, "it is old"), 0);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu_atom", EVENT_LOADS, "it is old"), 0);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu", EVENT_CYCLES, "it is old"), 0);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu", EVENT_STALLS, "it is young"), 0);
	some = pmu_plan_refusals(&plan, ROLE(LOADS) | ROLE(CYCLES) | ROLE(STALLS));
	cr_expect_str_eq(
		some,
		"loads and cycles on cpu: it is old. loads on cpu_atom: it is old. stalls on cpu: it is young");
	all = pmu_plan_refusals(&plan, ROLE(LOADS) | ROLE(CYCLES));
	cr_expect_str_eq(all, "cpu: it is old. loads on cpu_atom: it is old");
}
