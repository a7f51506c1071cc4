// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/probe/perf_remarks.h"

static struct pmu_plan plan_of(u8 precise_ip)
{
	struct pmu_plan plan = {.n_specs = 1};

	plan.specs[0] = (struct event_spec){
		.event = {.role = EVENT_LOADS, .pmu = "cpu"},
		.precise_ip = precise_ip,
		.cpus_known = true,
		.cpus = {{0xff}},
	};
	return plan;
}

static bool told(const struct pmu_plan *plan, const char *words)
{
	for (size_t i = 0; i < plan->n_notes; i++)
		if (strstr(plan->notes[i], words))
			return true;
	return false;
}

static void expect_one(const struct perf_facts *facts, const char *words)
{
	_cleanup_(pmu_plan_done) struct pmu_plan plan = plan_of(2);

	cr_assert_eq(perf_remarks(facts, &plan), 0);
	if (!words) {
		cr_expect_eq(plan.n_notes, 0, "%s", plan.n_notes ? plan.notes[0] : "");
		return;
	}
	cr_assert_eq(plan.n_notes, 1, "%zu", plan.n_notes);
	cr_expect_not_null(strstr(plan.notes[0], words), "%s", plan.notes[0]);
}

Test(perf_remarks, a_root_without_cgroups_has_all_samples)
{
	const struct perf_facts facts = {.cgroups = PERF_CGROUPS_NONE_YET};

	expect_one(&facts, "all samples count for the root until one is created there");
}

Test(perf_remarks, an_unshared_machine_has_no_remark)
{
	const struct perf_facts facts = {
		.max_sample_rate = 100000, .cpu_time_max_known = true, .cpu_time_max_percent = 25};

	expect_one(&facts, NULL);
}

Test(perf_remarks, each_other_user_of_counters_has_a_remark_with_a_remedy)
{
	struct perf_facts facts = {.users.watchdog = COUNTER_WATCHDOG_MAYBE};

	expect_one(&facts, "sysctl kernel.nmi_watchdog=0 frees it");
	facts = (struct perf_facts){.isolated = {{0xc}}, .nohz_full = {{0x30}}};
	expect_one(&facts, "CPUs 2-5 are isolated");
	facts = (struct perf_facts){.isolated = {{0x4}}};
	expect_one(&facts, "CPU 2 is isolated");
	expect_one(&facts, "set `isolated = no` in [sampling] to leave isolated CPUs out");
	facts = (struct perf_facts){.isolated = {{0x300}}}; /* these CPUs are not sampled */
	expect_one(&facts, NULL);
	facts = (struct perf_facts){.max_sample_rate = 25250};
	expect_one(&facts, "kernel.perf_event_max_sample_rate is 25250");
	facts.max_sample_rate = 200000;
	expect_one(&facts, NULL);
	facts = (struct perf_facts){.cpu_time_max_known = true, .cpu_time_max_percent = 5};
	expect_one(&facts, "kernel.perf_cpu_time_max_percent is 5");
	facts.cpu_time_max_percent = 0; /* 0 switches the limit off */
	expect_one(&facts, NULL);
	facts = (struct perf_facts){.kvm_host = true};
	expect_one(&facts, "guest not sampled");
}

Test(perf_remarks, without_an_event_there_is_no_remark)
{
	const struct perf_facts facts = {
		.users.watchdog = COUNTER_WATCHDOG_CYCLES, .kvm_host = true, .isolated = {{1}}};
	_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};

	cr_assert_eq(perf_remarks(&facts, &plan), 0);
	cr_expect_eq(plan.n_notes, 0);
}

/* The remark is about the registers of PEBS, which KVM switches. KVM does not switch those of IBS. */
Test(perf_remarks, guests_are_mentioned_only_if_pebs_is_planned)
{
	const struct perf_facts facts = {.kvm_host = true};
	_cleanup_(pmu_plan_done) struct pmu_plan plan = plan_of(0);

	plan.specs[0].event.latency_kind = LATENCY_DC_MISS;
	plan.specs[0].event.settings.operations = 2;
	cr_assert_eq(perf_remarks(&facts, &plan), 0);
	cr_expect_not(told(&plan, "guest not sampled"));
}

Test(perf_remarks, a_counter_in_use_is_mentioned)
{
	const struct event event = {.role = EVENT_LOADS, .pmu = "cpu"};
	const struct cpu_list none = {0}, some = {{0x5}};
	const struct perf_running nobody = {0};
	_cleanup_(pmu_plan_done) struct pmu_plan plan = plan_of(2);

	cr_assert_eq(perf_remark_taken(&event, &none, &nobody, true, &plan), 0);
	cr_expect_eq(plan.n_notes, 0);
	cr_assert_eq(perf_remark_taken(&event, &some, &nobody, true, &plan), 0);
	cr_expect(told(&plan, "loads on PMU cpu found no free counter on CPUs 0,2"));
	cr_expect(told(&plan, "kernel.nmi_watchdog=0"));
}

/*
 * Of four CPUs, the running pebsd counts with this PMU on the first and the last, and with another PMU on the
 * others.
 */
Test(perf_remarks, counters_of_the_running_pebsd_are_not_counted_as_others)
{
	const struct event event = {.role = EVENT_LOADS, .pmu = "cpu"};
	const struct cpu_list all = {{0xf}};
	const struct perf_running running = {.n = 2,
					     .in_use = {{"cpu_atom", {{0x6}}}, {"cpu", {{0x9 | 0x100}}}}};
	_cleanup_(pmu_plan_done) struct pmu_plan plan = plan_of(2);

	cr_assert_eq(perf_remark_taken(&event, &all, &running, false, &plan), 0);
	cr_assert_eq(plan.n_notes, 2);
	cr_expect(strstr(plan.notes[0], "no free counter on CPUs 0,3: the running pebsd"), "%s",
		  plan.notes[0]);
	cr_expect(strstr(plan.notes[1], "no free counter on CPUs 1-2: a pinned event of another"), "%s",
		  plan.notes[1]);
}

Test(perf_remarks, the_counter_of_the_watchdog_is_named)
{
	struct perf_facts facts = {.users.watchdog = COUNTER_WATCHDOG_CYCLES};

	expect_one(&facts,
		   "the NMI watchdog holds one counter on each CPU with a pinned event of CPU cycles");
	facts.users.watchdog = COUNTER_WATCHDOG_RAW;
	facts.users.watchdog_config = 0x300;
	expect_one(&facts, "raw event 0x300 (on Intel the fixed counter of reference cycles); sysctl");
	facts.users.watchdog_config = 0xc2;
	expect_one(&facts, "raw event 0xc2; sysctl");
}

Test(perf_remarks, processes_with_perf_events_are_named_with_escaped_names)
{
	const struct perf_facts facts = {
		.users = {.n = 2,
			  .users = {{.pid = 4711, .events = 12, .name = "perf\033[2J"},
				    {.pid = 1, .events = 8, .name = "systemd"}},
			  .more = 3,
			  .more_events = 9}};

	expect_one(&facts,
		   ": perf\\x1b[2J (pid 4711) 12, systemd (pid 1) 8, and 3 more processes 9. Which of them");
}

Test(perf_remarks, unreadable_processes_are_mentioned)
{
	struct perf_facts facts = {.users.hidden = true};

	expect_one(&facts, "which other processes have perf events open is not known: /proc does not show");
	facts = (struct perf_facts){.users.unread = 113};
	expect_one(&facts, "may not read their descriptors: 113; run pebsd --probe as root");
	facts = (struct perf_facts){.users.cut = true};
	expect_one(&facts, "ended at 200000 processes and descriptors");
}

Test(perf_remarks, virtual_pmus_of_guests_are_named)
{
	struct perf_facts facts = {.users.kvm_pmu = true};

	expect_one(&facts, "virtual machines of KVM can have a virtual PMU (kvm.enable_pmu)");
	facts.users.machines = 3;
	expect_one(&facts, "virtual machines of KVM (running: 3) can have a virtual PMU");
}
