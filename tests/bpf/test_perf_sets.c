// SPDX-License-Identifier: GPL-2.0
/* Several events of one plan, in the running kernel, on software events. Needs root. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/perf_sets.h"
#include "page_faults.h"
#include "tree.h"

static const struct event_spec faults = {
	.event = {.role = EVENT_LOADS, .pmu = "software", .period = 1},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.pinned = true,
};
static const struct event_spec minor_faults = {
	.event = {.role = EVENT_STORES, .pmu = "software", .period = 10},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
};
static const struct event_spec nobodys = {
	.event = {.role = EVENT_INSTRUCTIONS, .pmu = "nobody", .period = 10},
	.type = 0x7fffffff,
};

static char *root;
static char online[64];
static struct pmu_plan plan;
static struct perf_selection selection;
static struct perf_event_set *sets[EVENTS_MAX];
static size_t n_sets;
static char *message;

static void setup(void)
{
	if (geteuid() != 0)
		cr_skip_test("opening events on all CPUs needs root");
	root = tree_new();
	(void)snprintf(online, sizeof(online), "%s/online", root);
	tree_write(root, "online", "0-1\n");
}

static void teardown(void)
{
	for (size_t i = 0; i < n_sets; i++)
		perf_set_free(sets[i]);
	pmu_plan_done(&plan);
	free(message);
	if (root)
		tree_remove(root);
}

TestSuite(perf_sets, .init = setup, .fini = teardown);

static void need_two_cpus(void)
{
	struct cpu_list cpus;

	cr_assert_eq(cpu_list_read(PERF_ONLINE_PATH, &cpus), 0);
	if (!cpu_list_has(&cpus, 0) || !cpu_list_has(&cpus, 1))
		cr_skip_test("needs CPUs 0 and 1");
}

static void add(const struct event_spec *spec)
{
	plan.specs[plan.n_specs++] = *spec;
}

static int open_all(void)
{
	return perf_sets_open(&plan, &selection, online, false, sets, &n_sets, &message);
}

/* Makes the kernel refuse events on `cpu` with `error` from now on, as it does when it is short of memory. */
static void refuse_cpu(u32 cpu, u32 error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, cpu, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void add_on(const struct event_spec *spec, int cpu)
{
	struct event_spec members = *spec;

	members.has_members = true;
	cpu_list_add(&members.members, cpu);
	add(&members);
}

static void expect_cpus(size_t i, const char *expected)
{
	char *cpus = cpu_list_format(perf_cpus(sets[i]));

	cr_expect_str_eq(cpus, expected);
	free(cpus);
}

static void expect_text(char *text, const char *expected)
{
	cr_assert_not_null(text);
	cr_expect_str_eq(text, expected);
	free(text);
}

Test(perf_sets, events_that_may_open_later_are_left_out)
{
	need_two_cpus();
	add_on(&faults, 0);
	add_on(&minor_faults, 1);
	refuse_cpu(1, ENOMEM);
	cr_assert_eq(open_all(), 0, "%s", message);
	cr_expect_eq(n_sets, 1);
	cr_expect_eq(plan.n_refusals, 1);
}

/* Opening fails at the first refusal: with fewer events than were saved, counting would restart from zero. */
Test(perf_sets, if_all_events_are_wanted_one_failure_ends_the_open)
{
	need_two_cpus();
	add_on(&faults, 0);
	add_on(&minor_faults, 1);
	refuse_cpu(1, ENOMEM);
	cr_assert_eq(perf_sets_open(&plan, &selection, online, true, sets, &n_sets, &message), -ENOMEM);
	cr_assert_not_null(message);
	cr_expect_eq(plan.n_refusals, 0);
	cr_expect_eq(n_sets, 1);
}

Test(perf_sets, events_that_can_never_open_are_left_out)
{
	need_two_cpus();
	add(&nobodys);
	add_on(&faults, 0);
	cr_assert_eq(perf_sets_open(&plan, &selection, online, true, sets, &n_sets, &message), 0);
	cr_expect_eq(n_sets, 1);
	cr_expect_eq(plan.n_refusals, 1);
}

Test(perf_sets, each_event_has_its_own_counts)
{
	struct perf_counts loads, stores;
	int loads_fd, stores_fd, stats_fd;

	tree_write(root, "online", "0\n");
	add(&faults);
	add(&minor_faults);
	cr_assert_eq(open_all(), 0, "%s", message);
	cr_assert_eq(n_sets, 2);
	cr_expect_not(perf_is_multiplexed(sets[0]));
	cr_expect(perf_is_multiplexed(sets[1]));
	loads_fd = page_faults_program();
	stores_fd = page_faults_program();
	stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	cr_assert(loads_fd >= 0 && stores_fd >= 0 && stats_fd >= 0);
	cr_assert_eq(perf_start(sets[0], loads_fd, &message), 0, "%s", message);
	cr_assert_eq(perf_start(sets[1], stores_fd, &message), 0, "%s", message);
	page_faults_on(0, 1000);
	perf_stop(sets[0]);
	perf_stop(sets[1]);
	perf_count(sets[0], &loads);
	perf_count(sets[1], &stores);
	cr_expect_geq(loads.expected, 1000);
	cr_expect_eq(loads.expected, page_faults_runs(loads_fd));
	cr_expect_geq(stores.expected, 100);
	cr_expect_lt(stores.expected, loads.expected);
	cr_expect_eq(stores.expected, page_faults_runs(stores_fd));
	(void)close(stats_fd);
	(void)close(loads_fd);
	(void)close(stores_fd);
}

Test(perf_sets, a_refused_event_does_not_prevent_the_others)
{
	add(&nobodys);
	add(&faults);
	cr_assert_eq(open_all(), 0, "%s", message);
	cr_expect_null(message);
	cr_assert_eq(n_sets, 1);
	cr_expect_eq(perf_event(sets[0])->role, EVENT_LOADS);
	cr_assert_eq(plan.n_specs, 1);
	cr_assert_eq(plan.n_refusals, 1);
	cr_expect_eq(plan.refusals[0].role, EVENT_INSTRUCTIONS);
	cr_expect_str_eq(plan.refusals[0].pmu, "nobody");
	cr_expect(strstr(plan.refusals[0].reason, "cannot open instructions on PMU nobody, CPU 0"), "%s",
		  plan.refusals[0].reason);
}

Test(perf_sets, if_no_event_opens_the_first_error_has_all_reasons)
{
	struct event_spec other = nobodys;

	other.event.role = EVENT_STORES;
	add(&nobodys);
	add(&other);
	cr_expect_eq(open_all(), -ENOENT);
	cr_assert_not_null(message);
	cr_expect(strstr(message, "cannot open instructions on PMU nobody, CPU 0"), "%s", message);
	cr_expect(strstr(message, ". cannot open stores on PMU nobody, CPU 0"), "%s", message);
	cr_expect_eq(n_sets, 0);
	cr_expect_eq(plan.n_refusals, 2);
}

Test(perf_sets, a_plan_without_events_has_no_kernel_message)
{
	cr_expect_eq(open_all(), -ENODEV);
	cr_expect_null(message);
}

Test(perf_sets, only_selected_cpus_are_opened_including_later_ones)
{
	need_two_cpus();
	cpu_list_add(&selection.named, 1);
	add(&faults);
	cr_assert_eq(open_all(), 0, "%s", message);
	expect_cpus(0, "1");
	tree_write(root, "online", "0\n");
	cr_expect_eq(perf_hotplug(sets[0], &message), 1);
	expect_cpus(0, "");
	tree_write(root, "online", "0-1\n");
	cr_expect_eq(perf_hotplug(sets[0], &message), 1, "%s", message);
	expect_cpus(0, "1");
}

Test(perf_sets, isolated_cpus_are_left_out)
{
	need_two_cpus();
	cpu_list_add(&selection.isolated, 0);
	add(&faults);
	cr_assert_eq(open_all(), 0, "%s", message);
	expect_cpus(0, "1");
}

Test(perf_sets, a_pmu_without_a_selected_cpu_is_noted)
{
	struct event_spec members = minor_faults;

	members.has_members = true;
	cpu_list_add(&members.members, 1);
	cpu_list_add(&selection.named, 0);
	add(&members);
	add(&faults);
	cr_assert_eq(open_all(), 0, "%s", message);
	cr_assert_eq(n_sets, 1);
	expect_cpus(0, "0");
	cr_assert_eq(plan.n_notes, 1);
	cr_expect_str_eq(
		plan.notes[0],
		"stores on PMU software is not sampled: `cpus` and `isolated` in [sampling] select none of its online CPUs (1); add one to `cpus`, set `isolated = yes` if it is isolated, or restart pebsd when a selected one is online");
}

/* The `cpus` of a hybrid CPU's PMU is empty while all cores of that kind are offline. */
Test(perf_sets, a_pmu_without_an_online_cpu_is_noted)
{
	struct event_spec members = minor_faults;

	members.has_members = true;
	add(&members);
	add(&faults);
	cr_assert_eq(open_all(), 0, "%s", message);
	cr_assert_eq(n_sets, 1);
	cr_assert_eq(plan.n_notes, 1);
	cr_expect_str_eq(
		plan.notes[0],
		"stores on PMU software is not sampled: none of its CPUs is online; restart pebsd when one is online");
}

Test(perf_sets, a_refused_pmu_is_not_reported_if_another_samples_its_cpus)
{
	struct event_spec core = faults;

	add(&faults);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu", EVENT_LOADS, "the other one is there for that"), 0);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu", EVENT_STORES, "no such event"), 0);
	cr_expect_null(perf_sets_refusal(&plan, 0));
	expect_text(perf_sets_refusal(&plan, 1), "stores on PMU cpu is not available: no such event");
	core.has_members = true;
	plan.specs[0] = core;
	expect_text(perf_sets_refusal(&plan, 0),
		    "loads on PMU cpu is not available: the other one is there for that");
}

Test(perf_sets, auto_has_one_note_on_omitted_events)
{
	struct event_spec cycles = minor_faults, loads = faults;

	cycles.event.role = EVENT_CYCLES;
	cr_expect_null(perf_sets_left_out(&plan, 0));
	add(&faults);
	add(&cycles);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu", EVENT_LOADS, "ibs_op has them"), 0);
	cr_expect_null(perf_sets_left_out(&plan, plan.n_refusals), "they are sampled on all CPUs");
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu", EVENT_STALLS, "no such event"), 0);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu", EVENT_MISSES, "nor this one"), 0);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu_atom", EVENT_STALLS, "no such event"), 0);
	cr_assert_eq(pmu_plan_refuse(&plan, "cpu", EVENT_INSTRUCTIONS, "the kernel refused it"), 0);
	expect_text(
		perf_sets_left_out(&plan, plan.n_refusals - 1),
		"events = auto leaves out stalls and misses on PMU cpu, stalls on PMU cpu_atom; pebsd --probe says why");
	loads.has_members = true;
	plan.specs[0] = loads;
	expect_text(perf_sets_left_out(&plan, 2),
		    "events = auto leaves out loads and stalls on PMU cpu; pebsd --probe says why");
	pmu_plan_drop(&plan, 0);
	expect_text(
		perf_sets_left_out(&plan, plan.n_refusals),
		"this machine cannot sample loads, so pebsd knows neither latencies nor data sources here; it samples cycles (events = auto; pebsd --probe says why)");
}

/* The messages of an automatic plan are those of different errors. */
Test(perf_sets, auto_reports_a_common_obstacle_once)
{
	struct event_spec other = nobodys;

	other.event.role = EVENT_CYCLES;
	plan.automatic = true;
	add(&nobodys);
	add(&other);
	cr_expect_eq(open_all(), -ENOENT);
	cr_assert_not_null(message);
	cr_expect_not_null(strstr(message, "cannot open instructions"), "%s", message);
	cr_expect_null(strstr(message, "cannot open cycles"), "%s", message);
	cr_expect_eq(plan.n_refusals, 2);
}

/* A start that fails is tried again. With counts alone, it would succeed without loads for good. */
Test(perf_sets, auto_waits_for_loads_that_may_open_later)
{
	need_two_cpus();
	add_on(&faults, 1);
	add_on(&minor_faults, 0);
	plan.specs[1].event.role = EVENT_CYCLES;
	refuse_cpu(1, ENOMEM);
	plan.automatic = true;
	cr_expect_eq(open_all(), -ENOMEM);
	cr_expect_eq(n_sets, 1);
	cr_assert_not_null(message);
	cr_expect_not_null(strstr(message, "cannot open loads"), "%s", message);
}

Test(perf_sets, auto_uses_counts_if_loads_can_never_be_opened)
{
	struct event_spec loads = nobodys, cycles = minor_faults;

	loads.event.role = EVENT_LOADS;
	cycles.event.role = EVENT_CYCLES;
	plan.automatic = true;
	add(&loads);
	add(&cycles);
	cr_expect_eq(open_all(), 0, "%s", message);
	cr_expect_eq(n_sets, 1);
}

Test(perf_sets, a_new_plan_sets_its_periods)
{
	struct pmu_plan later = {0};

	tree_write(root, "online", "0\n");
	add(&faults);
	add(&minor_faults);
	cr_assert_eq(open_all(), 0, "%s", message);
	later.n_specs = 2;
	later.specs[0] = minor_faults;
	later.specs[0].event.period = 33;
	later.specs[1] = faults;
	cr_expect_eq(perf_sets_set_periods(sets, n_sets, &later, &message), 0, "%s", message);
	cr_expect_eq(perf_event(sets[0])->period, 1);
	cr_expect_eq(perf_event(sets[1])->period, 33);

	/* The new plan refuses loads, and the kernel refuses the new period of stores: both keep their periods. */
	later.specs[0].event.period = 1ULL << 63;
	later.n_specs = 1;
	cr_assert_eq(pmu_plan_refuse(&later, "software", EVENT_LOADS, "no period below 144"), 0);
	cr_expect_eq(perf_sets_set_periods(sets, n_sets, &later, &message), -EINVAL);
	cr_expect(
		strstr(message,
		       "loads on PMU software keeps its period of 1: no period below 144. stores on PMU software keeps its period of 33: on CPU 0 the kernel refuses"),
		"%s", message);
	pmu_plan_done(&later);
}
