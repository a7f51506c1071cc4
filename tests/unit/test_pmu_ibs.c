// SPDX-License-Identifier: GPL-2.0
/* AMD's instruction based sampling: its rules, and its refusals. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine_fixture.h"
#include "origin/pmu/perf_attr.h"
#include "tree.h"

TestSuite(pmu_ibs, .init = machine_fixture_start, .fini = machine_fixture_stop);

static void plan_threshold(u32 ldlat)
{
	const struct pmu_request request = {.ldlat = ldlat, .roles = ROLE(LOADS)};

	pmu_plan_done(&plan);
	cr_assert_eq(pmu_plan(root, &request, &plan), 0);
	cr_assert_eq(plan.n_specs, 1);
}

Test(pmu_ibs, loads_are_planned_with_ibs)
{
	const struct event_spec *spec;

	machine_tree_amd(root, false);
	machine_plan(root, ROLE(LOADS), &plan);
	cr_assert_eq(plan.n_specs, 1);
	spec = &plan.specs[0];
	cr_expect_str_eq(spec->event.pmu, "ibs_op");
	cr_expect_eq(spec->event.role, EVENT_LOADS);
	cr_expect_eq(spec->type, 11);
	cr_expect_eq(spec->config, 1 << 19);
	cr_expect_eq(spec->config1, 0);
	cr_expect_eq(spec->precise_ip, 0);
	cr_expect_not(spec->exclude_guest);
	cr_expect(spec->pinned);
	cr_expect_not(spec->has_leader);
	cr_expect_eq(spec->event.period, 1048336);
	cr_expect_eq(spec->period_step, 16);
	cr_expect_eq(spec->period_min, 0x90);
	cr_expect_eq(spec->event.latency_kind, LATENCY_DC_MISS);
	cr_expect_eq(spec->event.ldlat, 0);
	cr_expect_eq(spec->event.settings.operations, PERF_MEM_OP_LOAD);
	cr_expect_eq(spec->event.settings.has_latency, 1);
	cr_expect_eq(spec->event.settings.has_instruction_latency, 1);
	cr_expect_eq(spec->event.settings.has_source, 1);
	cr_expect_eq(spec->event.settings.has_address, 1);
	cr_expect_eq(spec->event.settings.weight_struct, 1);
	cr_expect_not_null(machine_note(&plan, "loads that hit L1 have a source, but no latency"));
	cr_expect_not_null(machine_note(&plan, "ldlat = 30 is not applied"));
	cr_expect_not_null(strstr(machine_tree_refusal(&plan, "cpu", EVENT_LOADS), "the PMU ibs_op does"));
}

/* Linux 6.1 refuses an attr with any exclude bit (PERF_PMU_CAP_NO_EXCLUDE). */
Test(pmu_ibs, no_privilege_level_is_excluded)
{
	struct perf_event_attr attr;

	machine_tree_amd(root, false);
	machine_plan(root, ROLE(LOADS), &plan);
	perf_attr(&plan.specs[0], plan.specs[0].event.period, &attr);
	cr_expect_eq(attr.exclude_guest, 0);
	cr_expect_eq(attr.exclude_host, 0);
	cr_expect_eq(attr.exclude_kernel, 0);
	cr_expect_eq(attr.exclude_user, 0);
	cr_expect_eq(attr.exclude_hv, 0);
	cr_expect_eq(attr.exclude_idle, 0);
	cr_expect_eq(attr.precise_ip, 0);
	cr_expect_eq(attr.sample_period % 16, 0);
	cr_expect_eq(attr.wakeup_events, 1);
	cr_expect_eq(attr.sample_type, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_STRUCT);
}

Test(pmu_ibs, stores_are_planned_if_requested_without_loads)
{
	const struct event_spec *spec;
	struct perf_event_attr attr;

	machine_tree_amd(root, true);
	machine_plan(root, ROLE(STORES), &plan);
	cr_assert_eq(plan.n_specs, 1);
	spec = &plan.specs[0];
	cr_expect_eq(spec->event.role, EVENT_STORES);
	cr_expect_eq(spec->event.settings.operations, PERF_MEM_OP_STORE);
	cr_expect_eq(spec->event.settings.has_latency, 0);
	cr_expect_eq(spec->event.settings.has_instruction_latency, 0);
	cr_expect_eq(spec->event.settings.has_source, 1);
	cr_expect_eq(spec->event.latency_kind, LATENCY_NONE);
	cr_expect_eq(spec->config1, 0);
	cr_expect_null(machine_tree_refusal(&plan, "ibs_op", EVENT_STORES));
	cr_expect_null(machine_note(&plan, "ldlat"));
	perf_attr(spec, spec->event.period, &attr);
	cr_expect_eq(attr.sample_type, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC);
}

Test(pmu_ibs, only_one_event_can_use_the_unit)
{
	const char *reason;

	machine_tree_amd(root, false);
	machine_plan(root, ALL_ROLES, &plan);
	cr_assert_eq(plan.n_specs, 2);
	cr_expect_not_null(machine_spec(&plan, "ibs_op", EVENT_LOADS));
	cr_expect_eq(plan.n_counters, 0);
	reason = machine_tree_refusal(&plan, "ibs_op", EVENT_STORES);
	cr_assert_not_null(reason);
	cr_expect_not_null(strstr(reason, "to sample stores instead, leave `loads` out of `events`"), "%s",
			   reason);
	cr_expect_null(machine_tree_refusal(&plan, "ibs_op", EVENT_INSTRUCTIONS));
	cr_expect_not_null(machine_spec(&plan, "cpu", EVENT_INSTRUCTIONS));
	cr_expect_not_null(machine_tree_refusal(&plan, "ibs_op", EVENT_OFFCORE));
}

Test(pmu_ibs, periods_are_multiples_of_16)
{
	static const struct {
		u64 requested, planned;
	} cases[] = {{1000000, 1000000}, {1000003, 1000000}, {10007, 10000}, {0x90, 0x90},
		     {0x9f, 0x90},       {0x8f, 0x90},       {1, 0x90}};

	machine_tree_amd(root, false);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct pmu_request request = {
			.ldlat = 30, .roles = ROLE(LOADS), .periods.accesses = cases[i].requested};

		pmu_plan_done(&plan);
		cr_assert_eq(pmu_plan(root, &request, &plan), 0);
		cr_expect_eq(plan.specs[0].event.period, cases[i].planned);
		cr_expect_eq(machine_note(&plan, "supports multiples of 16, at least 144") != NULL,
			     cases[i].planned != cases[i].requested);
	}
}

Test(pmu_ibs, a_threshold_is_used_if_the_cpu_supports_it)
{
	static const struct {
		u32 requested, planned;
	} cases[] = {{30, 0},    {127, 0},     {128, 128}, {129, 256}, {300, 384},
		     {384, 384}, {2048, 2048}, {2049, 0},  {65535, 0}};

	machine_tree_amd(root, true);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		plan_threshold(cases[i].requested);
		cr_expect_eq(plan.specs[0].event.ldlat, cases[i].planned);
		cr_expect_eq(plan.specs[0].config1, cases[i].planned);
		cr_expect_eq(plan.specs[0].config, 1 << 19);
		cr_expect_eq(machine_note(&plan, "is not applied") != NULL, cases[i].planned == 0);
		cr_expect_eq(machine_note(&plan, "samples only loads that missed L3") != NULL,
			     cases[i].planned != 0);
		/* The handler would drop samples for a threshold that is not a multiple of 128. */
		cr_expect_eq(plan.specs[0].config1 % 128, 0);
		cr_expect_eq(machine_note(&plan, "this unit supports multiples of 128") != NULL,
			     cases[i].planned && cases[i].planned != cases[i].requested);
	}
}

Test(pmu_ibs, without_the_capability_there_is_no_threshold)
{
	machine_tree_amd(root, true);
	tree_pmu(root, "ibs_op", "caps/ldlat", "0\n");
	plan_threshold(300);
	cr_expect_eq(plan.specs[0].event.ldlat, 0);
	cr_expect_eq(plan.specs[0].config1, 0);
	cr_expect_not_null(machine_note(&plan, "ldlat = 300 is not applied"));
	/* The caps file without its format file, as in an incomplete copy. */
	tree_remove(root);
	root = tree_new();
	machine_tree_amd(root, false);
	tree_pmu(root, "ibs_op", "caps/ldlat", "1\n");
	plan_threshold(300);
	cr_expect_eq(plan.specs[0].event.ldlat, 0);
}

Test(pmu_ibs, early_units_count_cycles)
{
	char path[256];

	machine_tree_amd(root, false);
	(void)snprintf(path, sizeof(path), "%s/bus/event_source/devices/ibs_op/format/cnt_ctl", root);
	cr_assert_eq(unlink(path), 0);
	machine_plan(root, ROLE(LOADS), &plan);
	cr_assert_eq(plan.n_specs, 1);
	cr_expect_eq(plan.specs[0].config, 0);
	cr_expect_not_null(machine_note(&plan, "cannot count operations"));
}

Test(pmu_ibs, a_threshold_that_the_kernel_refuses_is_dropped)
{
	struct event_spec spec;

	machine_tree_amd(root, true);
	plan_threshold(300);
	spec = plan.specs[0];
	cr_assert(perf_attr_relax(&plan.specs[0], -EINVAL, &spec));
	cr_expect_eq(spec.config1, 0);
	cr_expect_eq(spec.event.ldlat, 0);
	cr_expect_eq(spec.event.settings.weight_struct, 1);
	cr_assert(perf_attr_relax(&plan.specs[0], -EINVAL, &spec));
	cr_expect_eq(spec.event.settings.weight_struct, 0);
	cr_expect_eq(spec.event.settings.has_instruction_latency, 0);
	cr_expect_eq(spec.event.settings.has_latency, 1);
	cr_expect_not(perf_attr_relax(&plan.specs[0], -EINVAL, &spec));
	cr_expect_eq(spec.precise_ip, 0);
}

Test(pmu_ibs, amd_without_ibs_is_refused)
{
	const char *reason;

	tree_pmu(root, "cpu", "type", "4\n");
	tree_pmu(root, "cpu", "format/event", "config:0-7,32-35\n");
	tree_pmu(root, "cpu", "events/instructions", "event=0xc0\n");
	machine_plan(root, ALL_ROLES, &plan);
	cr_expect_eq(plan.n_specs, 0);
	cr_expect_eq(plan.n_refusals, 4);
	reason = machine_tree_refusal(&plan, "cpu", EVENT_LOADS);
	cr_assert_not_null(reason);
	cr_expect_not_null(strstr(reason, "there is no PMU ibs_op"), "%s", reason);
}

Test(pmu_ibs, a_copied_tree_without_formats_is_inconclusive)
{
	tree_pmu(root, "ibs_op", "type", "11\n");
	machine_plan(root, ROLE(LOADS), &plan);
	cr_expect_eq(plan.n_specs, 0);
	cr_expect_not_null(
		strstr(machine_tree_refusal(&plan, "ibs_op", EVENT_LOADS), "the directory format/"));
}

Test(pmu_ibs, a_broken_tree_is_refused)
{
	tree_pmu(root, "ibs_op", "type", "eleven\n");
	tree_pmu(root, "ibs_op", "format/cnt_ctl", "config:19\n");
	machine_plan(root, ROLE(LOADS), &plan);
	cr_expect_eq(plan.n_specs, 0);
	cr_expect_not_null(machine_tree_refusal(&plan, "ibs_op", EVENT_LOADS));
	tree_pmu(root, "ibs_op", "type", "11\n");
	tree_pmu(root, "ibs_op", "format/cnt_ctl", "nonsense\n");
	machine_plan(root, ROLE(LOADS), &plan);
	cr_expect_eq(plan.n_specs, 0);
	cr_expect_not_null(strstr(machine_tree_refusal(&plan, "ibs_op", EVENT_LOADS), "cnt_ctl"));
}
