// SPDX-License-Identifier: GPL-2.0
/*
 * The perf origin's machinery in the running kernel, on software events: no PMU is needed, the rest is the
 * same. As root.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <criterion/criterion.h>

#include "origin/perf/perf.h"
#include "origin/perf/perf_cpu.h"
#include "tree.h"

#define FAULTS 2000

static const struct pmu_opening page_faults = {
	.event = {.role = EVENT_LOADS, .pmu = "software"},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
};

static char *root;
static char online[64];
static int program_fd = -1;
static int stats_fd = -1;

/* `return 0;`: how often it ran the kernel counts. */
static int load_program(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "test", "GPL", code, sizeof(code) / sizeof(code[0]),
			     NULL);
}

static void setup(void)
{
	if (geteuid() != 0)
		cr_skip_test("opening events on all CPUs needs root");
	root = tree_new();
	(void)snprintf(online, sizeof(online), "%s/online", root);
	program_fd = load_program();
	cr_assert_geq(program_fd, 0, "cannot load a BPF program: %s", strerror(errno));
	stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	cr_assert_geq(stats_fd, 0, "cannot switch on BPF statistics: %s", strerror(errno));
}

static void teardown(void)
{
	cleanup_close(&stats_fd);
	cleanup_close(&program_fd);
	if (root)
		tree_remove(root);
}

TestSuite(perf_origin, .init = setup, .fini = teardown);

static u64 program_runs(void)
{
	struct bpf_prog_info info = {0};
	u32 size = sizeof(info);

	cr_assert_eq(bpf_obj_get_info_by_fd(program_fd, &info, &size), 0);
	return info.run_cnt;
}

/* Touches FAULTS fresh pages in a child on `cpu`, and waits for it. */
static void fault_on(int cpu)
{
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (child == 0) {
		const size_t size = FAULTS * 4096UL;
		cpu_set_t cpus;
		char *pages;

		CPU_ZERO(&cpus);
		CPU_SET((size_t)cpu, &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
			_exit(1);
		pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED || madvise(pages, size, MADV_NOHUGEPAGE) < 0)
			_exit(1);
		for (size_t i = 0; i < FAULTS; i++)
			((volatile char *)pages)[i * 4096] = 1;
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
}

static struct perf_event_set *open_set(const struct pmu_opening *opening, const char *path)
{
	struct perf_event_set *set = NULL;
	char *message = NULL;

	cr_assert_eq(perf_open(opening, 1, path, &set, &message), 0, "%s", message);
	cr_assert_not_null(set);
	return set;
}

static void start(struct perf_event_set *set)
{
	char *message = NULL;

	cr_assert_eq(perf_start(set, program_fd, &message), 0, "%s", message);
}

static void expect_cpus(const struct perf_event_set *set, const char *expected)
{
	char *cpus = cpu_list_format(perf_cpus(set));

	cr_expect_str_eq(cpus, expected);
	free(cpus);
}

Test(perf_origin, every_event_runs_the_program_and_is_counted)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = open_set(&page_faults, PERF_ONLINE_PATH);
	struct perf_counts counts;
	struct cpu_list cpus;
	u64 runs;

	cr_assert_eq(cpu_list_read(PERF_ONLINE_PATH, &cpus), 0);
	perf_count(set, &counts);
	cr_expect_eq(counts.count, 0);
	cr_expect_eq(counts.enabled_ns, 0);
	cr_expect_eq(counts.cpus, cpu_list_count(&cpus));
	cr_expect_eq(program_runs(), 0, "the program ran before the start");

	start(set);
	for (int cpu = cpu_list_next(&cpus, -1); cpu >= 0; cpu = cpu_list_next(&cpus, cpu))
		fault_on(cpu);
	runs = program_runs();
	perf_count(set, &counts);
	cr_expect_geq(counts.count, FAULTS * cpu_list_count(&cpus));
	/* Of all that was counted by now the program saw what the guard did not keep from it. */
	cr_expect_geq(runs, FAULTS * cpu_list_count(&cpus) * 99 / 100);
	cr_expect_leq(runs, counts.count);
	cr_expect_gt(counts.enabled_ns, 0);
	cr_expect_eq(counts.enabled_ns, counts.running_ns);
	cr_expect_eq(counts.cpus_in_error, 0);
	cr_expect_eq(perf_event(set)->period, 1);
	cr_expect_eq(perf_event(set)->settings.has_latency, 0);
}

Test(perf_origin, a_group_with_a_leader)
{
	struct pmu_opening opening = page_faults;
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	struct perf_counts counts;

	opening.has_leader = true;
	opening.leader_config = PERF_COUNT_SW_DUMMY;
	tree_write(root, "online", "0\n");
	set = open_set(&opening, online);
	fault_on(0);
	perf_count(set, &counts);
	cr_expect_eq(counts.count, 0, "counted before the start");
	start(set);
	fault_on(0);
	perf_count(set, &counts);
	cr_expect_geq(counts.count, FAULTS);
	cr_expect_geq(program_runs(), FAULTS * 99 / 100);
}

Test(perf_origin, cpus_come_and_go)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	struct perf_counts first, second, third;
	char *message = NULL;
	struct cpu_list cpus;
	u64 runs;

	cr_assert_eq(cpu_list_read(PERF_ONLINE_PATH, &cpus), 0);
	if (!cpu_list_has(&cpus, 0) || !cpu_list_has(&cpus, 1))
		cr_skip_test("needs CPUs 0 and 1");
	tree_write(root, "online", "0\n");
	set = open_set(&page_faults, online);
	start(set);
	expect_cpus(set, "0");
	fault_on(0);
	cr_expect_eq(perf_hotplug(set, &message), 0);
	perf_count(set, &first);
	cr_expect_geq(first.count, FAULTS);
	cr_expect_eq(first.cpus, 1);

	tree_write(root, "online", "0-1\n");
	cr_expect_eq(perf_hotplug(set, &message), 1, "%s", message);
	expect_cpus(set, "0-1");
	runs = program_runs();
	fault_on(1);
	perf_count(set, &second);
	cr_expect_geq(second.count, first.count + FAULTS);
	cr_expect_geq(program_runs(), runs + FAULTS * 99 / 100);

	tree_write(root, "online", "1\n");
	cr_expect_eq(perf_hotplug(set, &message), 1, "%s", message);
	expect_cpus(set, "1");
	perf_count(set, &third);
	cr_expect_eq(third.cpus, 1);
	cr_expect_geq(third.count, second.count, "the count of a CPU that went is lost");
	cr_expect_geq(third.enabled_ns, second.enabled_ns);

	tree_write(root, "online", "\n");
	cr_expect_eq(perf_hotplug(set, &message), 1, "%s", message);
	expect_cpus(set, "");
	tree_write(root, "online", "0\n");
	cr_expect_eq(perf_hotplug(set, &message), 1, "%s", message);
	runs = program_runs();
	fault_on(0);
	cr_expect_geq(program_runs(), runs + FAULTS * 99 / 100);
}

Test(perf_origin, a_pmu_with_cpus_of_its_own_stays_on_them)
{
	struct pmu_opening opening = page_faults;
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	char *message = NULL;

	opening.has_members = true;
	cpu_list_add(&opening.members, 0);
	tree_write(root, "online", "0-1\n");
	set = open_set(&opening, online);
	expect_cpus(set, "0");
	tree_write(root, "online", "1\n");
	cr_expect_eq(perf_hotplug(set, &message), 1);
	expect_cpus(set, "");
}

Test(perf_origin, a_broken_list_of_cpus_changes_nothing)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	char *message = NULL;

	tree_write(root, "online", "0\n");
	set = open_set(&page_faults, online);
	tree_write(root, "online", "zero\n");
	cr_expect_eq(perf_hotplug(set, &message), -EINVAL);
	cr_expect_not_null(strstr(message, online), "%s", message);
	free(message);
	expect_cpus(set, "0");
}

Test(perf_origin, failures_say_why)
{
	struct pmu_opening nobody = page_faults;
	struct perf_event_set *set = NULL;
	char *message = NULL;

	nobody.type = 0x7fffffff;
	cr_expect_eq(perf_open(&nobody, 1, PERF_ONLINE_PATH, &set, &message), -ENOENT);
	cr_expect_not_null(strstr(message, "cannot open loads on PMU software, CPU 0 (type 2147483647"), "%s",
			   message);
	free(message);
	tree_write(root, "online", "\n");
	cr_expect_eq(perf_open(&page_faults, 1, online, &set, &message), -ENODEV);
	cr_expect_not_null(strstr(message, "none of its CPUs is online"), "%s", message);
	free(message);
	cr_expect_null(set);
}

Test(perf_origin, a_second_program_is_refused_with_its_reason)
{
	struct perf_event_set *set = open_set(&page_faults, PERF_ONLINE_PATH);
	char *message = NULL;

	start(set);
	cr_expect_eq(perf_start(set, program_fd, &message), -EEXIST);
	cr_expect_not_null(strstr(message, "already attached"), "%s", message);
	free(message);
	perf_set_free(set);
}

/* What the kernel does to an event whose CPU went away and came back: off, and nobody enables it. */
Test(perf_origin, an_event_that_stands_still_is_noticed)
{
	const struct timespec moment = {.tv_nsec = 2000000};
	struct perf_cpu event;

	cr_assert_eq(perf_cpu_open(&page_faults, 1, 0, &event), 0);
	cr_assert_eq(perf_cpu_start(&event, program_fd), 0);
	for (int i = 0; i < 4; i++) {
		(void)nanosleep(&moment, NULL);
		perf_cpu_update(&event, 1, true);
		cr_expect_not(event.detached, "running, taken for detached at reading %d", i);
	}
	cr_assert_eq(ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	for (int i = 0; i < 3; i++) {
		(void)nanosleep(&moment, NULL);
		perf_cpu_update(&event, 1, true);
	}
	cr_expect(event.detached);
	cr_expect_not(event.in_error);
	perf_cpu_close(&event);
}

Test(perf_origin, no_descriptor_is_left_behind)
{
	struct perf_event_set *set;
	int before, after;

	before = dup(0);
	cr_assert_geq(before, 0);
	(void)close(before);
	set = open_set(&page_faults, PERF_ONLINE_PATH);
	start(set);
	perf_set_free(set);
	after = dup(0);
	cr_expect_eq(after, before);
	(void)close(after);
}
