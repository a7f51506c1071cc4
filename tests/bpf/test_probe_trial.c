// SPDX-License-Identifier: GPL-2.0
/*
 * The live part of the probe in the running kernel, on software events. Software events need no PMU, and
 * everything else is the same. Compares the costs that the probe predicts with the real costs. Needs root.
 */
#include <dirent.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <criterion/criterion.h>

#include "cgroup_fixture.h"
#include "kernel/kernel.h"
#include "origin/perf/perf.h"
#include "origin/probe/perf_trial.h"
#include "origin/probe/probe.h"
#include "origin/probe/probe_words.h"
#include "some_stripes.h"

/* Makes a cgroup below the root: without one the probe refuses everything. */
TestSuite(probe_trial, .init = cgroup_fixture_setup, .fini = cgroup_fixture_teardown);

static struct event_spec software(enum event_role role)
{
	struct event_spec spec = {
		.event = {.role = role,
			  .pmu = "software",
			  .period = 1000,
			  .settings = {.has_latency = role == EVENT_LOADS, .weight_struct = 1}},
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.pinned = true,
		.cpus_known = true,
	};

	cr_assert_eq(cpu_list_read(PERF_ONLINE_PATH, &spec.cpus), 0);
	return spec;
}

static struct event_spec with_leader(struct event_spec spec)
{
	spec.has_leader = true;
	spec.leader_config = PERF_COUNT_SW_DUMMY;
	return spec;
}

static struct probe_report report_of(const struct event_spec *first, const struct event_spec *second)
{
	struct probe_report report = {
		.asked = 1U << first->event.role,
		.measured = {.page_size = (u64)sysconf(_SC_PAGESIZE)},
	};

	report.plan.specs[report.plan.n_specs++] = *first;
	if (second)
		report.plan.specs[report.plan.n_specs++] = *second;
	return report;
}

static size_t count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t n = 0;

	cr_assert_not_null(directory);
	while (readdir(directory))
		n++;
	(void)closedir(directory);
	return n;
}

/* Returns the bytes of perf events that this process has mapped. */
static u64 mapped_bytes(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	u64 bytes = 0;

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long from, to;

		if (strstr(line, "[perf_event]") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			bytes += to - from;
	}
	(void)fclose(maps);
	return bytes;
}

Test(probe_trial, descriptors_and_rings_equal_the_estimate)
{
	const struct event_spec loads = with_leader(software(EVENT_LOADS)), stores = software(EVENT_STORES);
	struct probe_report report = report_of(&loads, &stores);
	struct perf_event_set *sets[2];
	struct perf_cost_case machine;
	struct perf_cost cost;
	char *message = NULL;
	size_t before;

	report.measured.slots = 2;
	perf_cost_planned(&report.plan, 1U << EVENT_LOADS | 1U << EVENT_STORES, 1, 1, &machine);
	perf_cost(&machine, &report.measured, &cost);
	cr_expect_eq(cost.descriptors, 3 * cpu_list_count(&loads.cpus));
	before = count_descriptors();
	cr_expect_eq(mapped_bytes(), 0);
	for (size_t i = 0; i < 2; i++)
		cr_assert_eq(perf_open(&report.plan.specs[i], PERF_ONLINE_PATH, &sets[i], &message), 0, "%s",
			     message);
	cr_expect_eq(count_descriptors() - before, cost.descriptors);
	cr_expect_eq(mapped_bytes(), cost.ring_bytes);
	for (size_t i = 0; i < 2; i++)
		perf_set_free(sets[i]);
	cr_expect_eq(count_descriptors(), before);
}

/* The cases are events with latency, without latency, and both. */
Test(probe_trial, maps_equal_the_estimated_size)
{
	static const struct {
		size_t latency, plain;
	} cases[] = {{1, 0}, {2, 1}, {0, 1}};
	const struct stripes_cpu topology[6] = {{0}};
	struct stripes stripes;

	cr_assert_eq(stripes_assign(topology, 6, &stripes), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel_settings settings = {.slots = 600, .stripes = &stripes};
		const struct perf_cost_facts facts = {.slots = 600, .page_size = (u64)sysconf(_SC_PAGESIZE)};
		struct perf_cost_case machine = {.cpus = 6, .stripes = 6};
		struct perf_cost cost;
		struct kernel *kernel;
		char *message;

		for (size_t j = 0; j < cases[i].latency + cases[i].plain; j++) {
			settings.events[settings.n_events++].has_latency = j < cases[i].latency;
			machine.events[machine.n_events++].has_latency = j < cases[i].latency;
		}
		cr_assert_eq(kernel_open(&settings, &kernel, &message), 0, "%s", message);
		perf_cost(&machine, &facts, &cost);
		cr_expect_eq(cost.map_bytes, kernel_map_bytes(kernel));
		kernel_free(kernel);
	}
	stripes_done(&stripes);
}

/* Hot tables and records of off-core responses exist once for each possible CPU. */
Test(probe_trial, per_cpu_maps_equal_the_estimated_size)
{
	const u32 cpus = (u32)libbpf_num_possible_cpus();
	const struct kernel_settings settings = {.slots = 600,
						 .stripes = machine_stripes(),
						 .hardware = true,
						 .offcore_cpus = cpus,
						 .hot_max = 3,
						 .n_events = 1,
						 .events = {{.has_code_address = 1}}};
	const struct perf_cost_facts facts = {
		.slots = 600, .hot_max = 3, .page_size = (u64)sysconf(_SC_PAGESIZE)};
	const struct perf_cost_case machine = {.cpus = cpus,
					       .stripes = machine_stripes()->n,
					       .n_events = 1,
					       .events = {{.has_code_address = true}},
					       .counters = cpus};
	struct perf_cost cost;
	struct kernel *kernel;
	char *message;

	cr_assert_eq(kernel_open(&settings, &kernel, &message), 0, "%s", message);
	perf_cost(&machine, &facts, &cost);
	cr_expect_eq(cost.map_bytes, kernel_map_bytes(kernel), "%llu instead of %llu",
		     (unsigned long long)cost.map_bytes, (unsigned long long)kernel_map_bytes(kernel));
	kernel_free(kernel);
}

Test(probe_trial, events_that_open_are_measured)
{
	const struct event_spec loads = with_leader(software(EVENT_LOADS)), stores = software(EVENT_STORES);
	struct probe_report report = report_of(&loads, &stores);
	size_t cpus = cpu_list_count(&loads.cpus);
	size_t before = count_descriptors();
	char *text = NULL;
	size_t size;
	FILE *out;

	cr_assert_eq(probe_try(&report), 0);
	cr_assert_eq(report.plan.n_specs, 2, "%s",
		     report.plan.n_refusals ? report.plan.refusals[0].reason : "");
	cr_expect(probe_usable(&report));
	cr_expect_eq(report.timed, 2 * (cpus < PERF_TRIAL_CPUS ? cpus : PERF_TRIAL_CPUS));
	cr_expect_gt(report.measured.event_ns, 0);
	cr_expect_lt(report.measured.event_ns, NSEC_PER_SEC);
	cr_expect_gt(report.measured.load_ns, report.measured.event_ns);
	/* A struct perf_event takes more than 1,000 bytes in every kernel. */
	cr_expect_gt(report.measured.event_bytes, 1000);
	cr_expect_lt(report.measured.event_bytes, 10000);
	cr_expect_eq(report.cpus, libbpf_num_possible_cpus());
	cr_expect_geq(report.measured.slots, 512);
	cr_expect_eq(count_descriptors(), before, "what was opened is closed again");

	out = open_memstream(&text, &size);
	cr_assert_eq(probe_print_text(&report, out), 0);
	(void)fclose(out);
	cr_expect_not_null(strstr(text, "is computed from measurements of this run"), "%s", text);
	cr_expect_null(strstr(text, "?"), "%s", text);
	free(text);
	probe_report_done(&report);
}

static void limit_descriptors(rlim_t n)
{
	const struct rlimit limit = {.rlim_cur = n, .rlim_max = n};

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

Test(probe_trial, too_few_descriptors_are_reported_before_opening_events)
{
	const struct event_spec loads = software(EVENT_LOADS), stores = software(EVENT_STORES);
	struct probe_report report = report_of(&loads, &stores);

	limit_descriptors(100);
	cr_assert_eq(probe_try(&report), 0);
	cr_expect_eq(report.plan.n_specs, 0);
	cr_assert_eq(report.plan.n_refusals, 2);
	for (size_t i = 0; i < 2; i++) {
		const char *reason = report.plan.refusals[i].reason;

		cr_expect_not_null(strstr(reason, "too few file descriptors"), "%s", reason);
		cr_expect_not_null(strstr(reason, "the hard limit is 100; raise LimitNOFILE="), "%s", reason);
	}
	probe_report_done(&report);
}

/* There is one more event than fits. The first is opened and the second is refused. */
Test(probe_trial, events_within_the_descriptor_limit_are_opened)
{
	const struct event_spec loads = software(EVENT_LOADS), stores = software(EVENT_STORES);
	struct probe_report report = report_of(&loads, &stores);

	/*
	 * Otherwise the number of this machine's cgroups decides how many descriptors the table of slots
	 * takes.
	 */
	report.measured.slots = 2;
	/*
	 * The open descriptors without `.`, `..` and the one that counts them, plus the daemon's reserve,
	 * plus two for each CPU: an event and, if the kernel demands one, its leader.
	 */
	limit_descriptors(count_descriptors() - 3 + 128 + 2 * cpu_list_count(&loads.cpus));
	cr_assert_eq(probe_try(&report), 0);
	cr_assert_eq(report.plan.n_specs, 1, "%s",
		     report.plan.n_refusals ? report.plan.refusals[0].reason : "");
	cr_expect_eq(report.plan.specs[0].event.role, EVENT_LOADS);
	cr_expect(probe_usable(&report));
	cr_assert_eq(report.plan.n_refusals, 1);
	cr_expect_eq(report.plan.refusals[0].role, EVENT_STORES);
	probe_report_done(&report);
}

Test(probe_trial, an_event_on_an_absent_cpu_is_refused)
{
	struct event_spec loads = software(EVENT_LOADS);
	struct perf_trial trial;

	loads.cpus = (struct cpu_list){0};
	cpu_list_add(&loads.cpus, CPU_LIST_MAX - 1);
	cr_expect_lt(perf_trial(&loads, -1, &trial), 0);
	cr_expect_eq(trial.opened, 0);
}
