// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine_fixture.h"
#include "origin/pmu/pmu.h"
#include "tree.h"

TestSuite(pmu, .init = machine_fixture_start, .fini = machine_fixture_stop);

static void plan_with(u32 ldlat)
{
	const struct pmu_request request = {
		.ldlat = ldlat, .periods.accesses = 10007, .roles = 1U << EVENT_LOADS};

	pmu_plan_done(&plan);
	cr_assert_eq(pmu_plan(root, &request, &plan), 0);
}

static void remove_pmu_file(const char *pmu, const char *file)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/%s", root, pmu, file);
	cr_assert_eq(unlink(path), 0);
}

/* Expects a plan with one refusal, whose reason contains `words`. */
static void expect_refused(const char *pmu, const char *words)
{
	cr_expect_eq(plan.n_specs, 0);
	cr_assert_eq(plan.n_refusals, 1);
	cr_expect_str_eq(plan.refusals[0].pmu, pmu);
	cr_expect_eq(plan.refusals[0].role, EVENT_LOADS);
	cr_expect_not_null(strstr(plan.refusals[0].reason, words), "%s", plan.refusals[0].reason);
}

Test(pmu, skylake_is_planned)
{
	const struct event_spec *spec;

	tree_skylake(root);
	plan_with(30);
	cr_assert_eq(plan.n_specs, 1);
	cr_expect_eq(plan.n_refusals, 0);
	spec = &plan.specs[0];
	cr_expect_str_eq(spec->event.pmu, "cpu");
	cr_expect_eq(spec->event.role, EVENT_LOADS);
	cr_expect_eq(spec->event.ldlat, 30);
	cr_expect_eq(spec->event.period, 10007);
	cr_expect_eq(spec->event.latency_kind, LATENCY_USE);
	cr_expect_eq(spec->event.settings.has_latency, 1);
	cr_expect_eq(spec->event.settings.has_instruction_latency, 0);
	cr_expect_eq(spec->event.settings.has_source, 1);
	cr_expect_eq(spec->event.settings.has_address, 1);
	cr_expect_eq(spec->event.settings.weight_struct, 1);
	cr_expect_eq(spec->type, 4);
	cr_expect_eq(spec->config, 0x1cd);
	cr_expect_eq(spec->config1, 30);
	cr_expect_eq(spec->config2, 0);
	cr_expect_eq(spec->precise_ip, 2);
	cr_expect_not(spec->has_leader);
	cr_expect(spec->cpus_known);
	cr_expect_eq(cpu_list_count(&spec->cpus), 4);
}

Test(pmu, ldlat_replaces_the_one_in_sysfs)
{
	tree_skylake(root);
	plan_with(64);
	cr_expect_eq(plan.specs[0].config1, 64);
	plan_with(65535);
	cr_expect_eq(plan.specs[0].config1, 65535);
}

Test(pmu, fields_lie_where_the_format_says)
{
	tree_skylake(root);
	tree_pmu(root, "cpu", "format/ldlat", "config2:8-23\n");
	tree_pmu(root, "cpu", "format/umask", "config:8-15,40-47\n");
	tree_pmu(root, "cpu", "events/mem-loads", "event=0xcd,umask=0x101,ldlat=3\n");
	tree_pmu(root, "cpu", "type", "7\n");
	plan_with(30);
	cr_assert_eq(plan.n_specs, 1);
	cr_expect_eq(plan.specs[0].type, 7);
	cr_expect_eq(plan.specs[0].config, 0x100000001cdULL);
	cr_expect_eq(plan.specs[0].config1, 0);
	cr_expect_eq(plan.specs[0].config2, 30 << 8);
}

Test(pmu, the_auxiliary_event_leads_if_sysfs_has_it)
{
	tree_skylake(root);
	tree_pmu(root, "cpu", "caps/pmu_name", "sapphire_rapids\n");
	tree_pmu(root, "cpu", "events/mem-loads-aux", "event=0x03,umask=0x82\n");
	plan_with(30);
	cr_assert_eq(plan.n_specs, 1);
	cr_expect(plan.specs[0].has_leader);
	cr_expect_eq(plan.specs[0].leader_config, 0x8203);
	cr_expect_eq(plan.specs[0].event.latency_kind, LATENCY_CACHE);
	cr_expect_eq(plan.specs[0].event.settings.has_instruction_latency, 1);
	/* Granite Rapids has the newer kind of latency without a leader. */
	remove_pmu_file("cpu", "events/mem-loads-aux");
	tree_pmu(root, "cpu", "caps/pmu_name", "granite_rapids\n");
	plan_with(30);
	cr_expect_not(plan.specs[0].has_leader);
	cr_expect_eq(plan.specs[0].event.latency_kind, LATENCY_CACHE);
	cr_expect_eq(plan.specs[0].event.settings.has_instruction_latency, 1);
}

Test(pmu, latency_and_precision_by_generation)
{
	static const struct {
		const char *name;
		enum latency_kind kind;
		u8 precise_ip;
	} cases[] = {
		{"nehalem\n", LATENCY_USE, 1},     {"westmere\n", LATENCY_USE, 1},
		{"sandybridge\n", LATENCY_USE, 1}, {"ivybridge\n", LATENCY_USE, 1},
		{"haswell\n", LATENCY_USE, 2},     {"broadwell\n", LATENCY_USE, 2},
		{"icelake\n", LATENCY_USE, 2},     {"gracemont\n", LATENCY_CACHE, 2},
		{"crestmont\n", LATENCY_CACHE, 2}, {"not_yet_named\n", LATENCY_CACHE, 2},
	};

	tree_skylake(root);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		tree_pmu(root, "cpu", "caps/pmu_name", cases[i].name);
		plan_with(30);
		cr_assert_eq(plan.n_specs, 1);
		cr_expect_eq(plan.specs[0].event.latency_kind, cases[i].kind, "%s", cases[i].name);
		cr_expect_eq(plan.specs[0].precise_ip, cases[i].precise_ip, "%s", cases[i].name);
	}
}

Test(pmu, max_precise_0_is_ignored_and_1_is_used)
{
	tree_skylake(root);
	tree_pmu(root, "cpu", "caps/max_precise", "0\n");
	plan_with(30);
	cr_expect_eq(plan.specs[0].precise_ip, 2);
	tree_pmu(root, "cpu", "caps/max_precise", "1\n");
	plan_with(30);
	cr_expect_eq(plan.specs[0].precise_ip, 1);
}

Test(pmu, only_online_cpus_of_the_pmu_are_used)
{
	_cleanup_free_ char *cpus = NULL;
	_cleanup_free_ char *members = NULL;
	_cleanup_free_ char *source = NULL;

	tree_skylake(root);
	tree_pmu(root, "cpu", "cpus", "2-7\n");
	plan_with(30);
	cpus = cpu_list_format(&plan.specs[0].cpus);
	members = cpu_list_format(&plan.specs[0].members);
	cr_expect(plan.specs[0].has_members);
	cr_expect_str_eq(cpus, "2-3");
	cr_expect_str_eq(members, "2-7");
	/* The list is read again when a CPU comes online. */
	cr_assert_geq(asprintf(&source, "%s/bus/event_source/devices/cpu/cpus", root), 0);
	cr_expect_str_eq(plan.specs[0].members_source.path, source);
}

Test(pmu, a_mask_of_cpus_is_not_read_again)
{
	tree_skylake(root);
	tree_pmu(root, "cpu", "cpumask", "2-3\n");
	plan_with(30);
	cr_expect(plan.specs[0].has_members);
	cr_expect_str_empty(plan.specs[0].members_source.path);
}

Test(pmu, a_copy_without_online_file_uses_the_cpus_of_the_nodes)
{
	_cleanup_free_ char *cpus = NULL;
	char path[256];

	tree_skylake(root);
	(void)snprintf(path, sizeof(path), "%s/devices/system/cpu/online", root);
	cr_assert_eq(unlink(path), 0);
	plan_with(30);
	cr_expect_not(plan.specs[0].cpus_known);
	tree_write(root, "devices/system/node/node0/cpulist", "0-27,56-83\n");
	tree_write(root, "devices/system/node/node3/cpulist", "28-55,84-111\n");
	plan_with(30);
	cr_expect(plan.specs[0].cpus_known);
	cpus = cpu_list_format(&plan.specs[0].cpus);
	cr_expect_str_eq(cpus, "0-111");
}

Test(pmu, a_copied_tree_without_events_is_inconclusive)
{
	tree_pmu(root, "cpu", "type", "4\n");
	plan_with(30);
	expect_refused("cpu", "the sysfs tree lacks the directory events/ of this PMU");
}

Test(pmu, other_pmus_are_refused_by_name)
{
	static const struct {
		const char *pmu;
		const char *words;
	} cases[] = {
		{"arm_spe_0", "only to the AUX buffer, and a BPF program attached to it never runs"},
		{"armv8_pmuv3_0", "neither latency nor source"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		tree_pmu(root, cases[i].pmu, "type", "10\n");
	plan_with(30);
	cr_assert_eq(plan.n_specs, 0);
	cr_assert_eq(plan.n_refusals, ARRAY_SIZE(cases));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cr_expect_str_eq(plan.refusals[i].pmu, cases[i].pmu);
		cr_expect_not_null(strstr(plan.refusals[i].reason, cases[i].words), "%s",
				   plan.refusals[i].reason);
	}
}

Test(pmu, without_a_core_pmu_there_is_a_refusal)
{
	tree_pmu(root, "software", "type", "1\n");
	tree_pmu(root, "msr", "type", "8\n");
	plan_with(30);
	expect_refused("cpu", "a virtual machine without a virtual PMU");
	cr_expect_not_null(strstr(plan.refusals[0].reason, "--replay"));
}

Test(pmu, without_sysfs_there_is_an_error)
{
	plan_with(30);
	expect_refused("cpu", "cannot read");
}

Test(pmu, a_broken_tree_is_refused_with_the_broken_word)
{
	static const struct {
		const char *file, *text, *words;
	} cases[] = {
		{"events/mem-loads", "event=0xcd,umask=0x1,ldlat=3,weird=1\n", "\"weird\""},
		{"events/mem-loads", "event=0xcd,umask=0x100,ldlat=3\n", "more bits than its format"},
		{"events/mem-loads", "event=0xcd;umask=1\n", "does not know this term"},
		{"events/mem-loads", "../../type=1\n", "does not know this term"},
		{"format/ldlat", "config9:0-15\n", "\"ldlat\""},
		{"format/ldlat", "config1:0-3\n", "more bits than its format"},
		{"format/event", "config:64\n", "\"event\""},
		{"type", "four\n", "type number"},
		{"type", "\n", "type number"},
		{"type", "4294967296\n", "type number"},
		{"events/mem-loads-aux", "event=?\n", "mem-loads-aux"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		tree_remove(root);
		root = tree_new();
		tree_skylake(root);
		tree_pmu(root, "cpu", cases[i].file, cases[i].text);
		plan_with(30);
		expect_refused("cpu", cases[i].words);
	}
}

Test(pmu, impossible_names_are_not_printed)
{
	tree_skylake(root);
	tree_pmu(root, "cpu_\033[2J", "type", "4\n");
	tree_pmu(root, "cpu", "caps/pmu_name", "sky\033[2Jlake\n");
	plan_with(30);
	cr_expect_eq(plan.n_specs, 1);
	cr_expect_eq(plan.n_refusals, 0);
}

Test(pmu, a_plan_of_a_copy_says_that_nothing_was_opened)
{
	bool noted = false;

	tree_skylake(root);
	plan_with(30);
	for (size_t i = 0; i < plan.n_notes; i++)
		noted = noted || strstr(plan.notes[i], "nothing was opened");
	cr_expect(noted);
}

Test(pmu, a_request_out_of_range_is_refused)
{
	static const struct pmu_request requests[] = {
		{.ldlat = 2, .periods.accesses = 1, .roles = 1U << EVENT_LOADS},
		{.ldlat = 65536, .periods.accesses = 1, .roles = 1U << EVENT_LOADS},
		{.ldlat = 30, .periods.accesses = 1ULL << 32, .roles = 1U << EVENT_LOADS},
		{.ldlat = 30, .periods.instructions = 1ULL << 32, .roles = 1U << EVENT_LOADS},
		{.ldlat = 30, .roles = 1U << EVENT_ROLES},
	};

	tree_skylake(root);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		cr_expect_eq(pmu_plan(root, &requests[i], &plan), -EINVAL);
}
