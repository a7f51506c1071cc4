// SPDX-License-Identifier: GPL-2.0
/* Periods that change while events run, in the running kernel, on software events. Needs root. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <criterion/criterion.h>

#include "origin/perf/perf_internal.h"
#include "page_faults.h"
#include "tree.h"

static const struct event_spec page_faults = {
	.event = {.role = EVENT_LOADS, .pmu = "software", .period = 7},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.pinned = true,
};

static char *root;
static char online[64];
static int program_fd = -1;
static int stats_fd = -1;
static struct perf_event_set *set;
static char *message;

static void setup(void)
{
	if (geteuid() != 0)
		cr_skip_test("opening events on all CPUs needs root");
	root = tree_new();
	(void)snprintf(online, sizeof(online), "%s/online", root);
	tree_write(root, "online", "0\n");
	program_fd = page_faults_program();
	cr_assert_geq(program_fd, 0, "cannot load a BPF program: %s", strerror(errno));
	stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	cr_assert_geq(stats_fd, 0, "cannot switch on BPF statistics: %s", strerror(errno));
}

static void teardown(void)
{
	set = perf_set_free(set);
	free(message);
	cleanup_close(&stats_fd);
	cleanup_close(&program_fd);
	if (root)
		tree_remove(root);
}

TestSuite(perf_periods, .init = setup, .fini = teardown);

static void start(const struct event_spec *spec)
{
	cr_assert_eq(perf_open(spec, online, &set, &message), 0, "%s", message);
	cr_assert_eq(perf_start(set, program_fd, &message), 0, "%s", message);
}

static void change(u64 period)
{
	cr_assert_eq(perf_set_period(set, period, &message), 0, "%s", message);
	cr_expect_eq(perf_event(set)->period, period);
}

/*
 * The number of samples that the kernel's guard may keep from the program without counting them. This happens
 * when another process faults on the CPU inside bpf(2). A wrongly counted change of the period would be off
 * by far more in the tests with many changes.
 */
#define GUARDED_MAX 3

/* Expects the program to have seen as many samples as the count and the periods give. Returns that number. */
static u64 expect_exact(void)
{
	struct perf_counts counts;
	u64 seen;

	perf_stop(set);
	perf_count(set, &counts);
	seen = page_faults_runs(program_fd);
	cr_expect(seen <= counts.expected && counts.expected - seen <= GUARDED_MAX, "%llu due, %llu seen",
		  (unsigned long long)counts.expected, (unsigned long long)seen);
	return counts.expected;
}

Test(perf_periods, each_sample_is_weighted_by_its_own_period)
{
	static const u64 periods[] = {100, 13, 1, 997, 7};
	u64 due = 2000 / 7;

	start(&page_faults);
	page_faults_on(0, 2000);
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		change(periods[i]);
		page_faults_on(0, 2000);
		due += 2000 / periods[i];
	}
	cr_expect_geq(expect_exact(), due);
}

/* Imitates a suspend: a CPU's counters have lost their state, and the kernel did not notice it. */
Test(perf_periods, a_stalled_event_counts_again_once_rearmed)
{
	struct perf_counts before, still, after;

	start(&page_faults);
	page_faults_on(0, 2000);
	perf_count(set, &before);
	cr_assert_eq(ioctl(set->events[0].fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	page_faults_on(0, 2000);
	perf_count(set, &still);
	cr_assert_leq(still.expected, before.expected + 1, "it does not stand still");
	perf_rearm(set);
	page_faults_on(0, 2000);
	perf_count(set, &after);
	cr_expect_geq(after.expected, before.expected + 2000 / 7);
	(void)expect_exact();
}

/* A part of a period is not a sample, and it does not count towards a sample of the next period. */
Test(perf_periods, a_changed_period_discards_the_partial_one)
{
	struct perf_counts counts;
	struct event_spec spec = page_faults;

	spec.event.period = 1000000;
	start(&spec);
	for (u64 i = 0; i < 8; i++) {
		page_faults_on(0, 1500);
		change(1000000 + i % 2);
	}
	perf_count(set, &counts);
	cr_expect_geq(counts.count, 8UL * 1500);
	cr_expect_eq(counts.expected, 0);
	change(1000);
	page_faults_on(0, 1500);
	cr_expect_geq(expect_exact(), 1);
}

/* Changes the period many times while events come, so that each change falls somewhere within a period. */
Test(perf_periods, a_period_can_change_while_events_occur)
{
	const struct timespec moment = {.tv_nsec = 500000};
	struct perf_counts counts;
	int child;

	start(&page_faults);
	child = page_faults_begin(0);
	/* Continue until the child has had the CPU for some time. */
	for (u64 i = 0; i < 200 || (counts.expected < 500 && i < 20000); i++) {
		change(3 + i * 37 % 101);
		(void)nanosleep(&moment, NULL);
		perf_count(set, &counts);
	}
	perf_stop(set);
	page_faults_end(child);
	cr_expect_geq(expect_exact(), 300, "hardly a sample: this shows nothing");
}

Test(perf_periods, the_period_of_a_group_can_change)
{
	struct event_spec spec = page_faults;

	spec.has_leader = true;
	spec.leader_config = PERF_COUNT_SW_DUMMY;
	start(&spec);
	page_faults_on(0, 1000);
	change(11);
	page_faults_on(0, 1000);
	cr_expect_geq(expect_exact(), 1000 / 7 + 1000 / 11);
}

Test(perf_periods, a_cpu_that_comes_online_later_has_the_new_period)
{
	struct cpu_list cpus;

	cr_assert_eq(cpu_list_read(PERF_ONLINE_PATH, &cpus), 0);
	if (!cpu_list_has(&cpus, 0) || !cpu_list_has(&cpus, 1))
		cr_skip_test("needs CPUs 0 and 1");
	start(&page_faults);
	page_faults_on(0, 1000);
	change(500);
	tree_write(root, "online", "0-1\n");
	cr_assert_eq(perf_hotplug(set, &message), 1, "%s", message);
	page_faults_on(1, 1000);
	/* CPU 0's counts, most of them with the first period, remain after the CPU has gone offline. */
	tree_write(root, "online", "1\n");
	cr_assert_eq(perf_hotplug(set, &message), 1, "%s", message);
	cr_expect_geq(expect_exact(), 1000 / 7 + 1000 / 500);
}

Test(perf_periods, a_period_set_before_the_start_is_used)
{
	cr_assert_eq(perf_open(&page_faults, online, &set, &message), 0, "%s", message);
	change(20);
	page_faults_on(0, 1000);
	cr_expect_eq(page_faults_runs(program_fd), 0, "a change of the period started the event");
	cr_assert_eq(perf_start(set, program_fd, &message), 0, "%s", message);
	page_faults_on(0, 1000);
	cr_expect_geq(expect_exact(), 1000 / 20);
}

/* The kernel refuses a period with bit 63 set and one below the CPU's minimum with the same error. */
Test(perf_periods, a_period_that_the_kernel_refuses_leaves_the_old_one)
{
	start(&page_faults);
	page_faults_on(0, 1003);
	cr_expect_eq(perf_set_period(set, 1ULL << 63, &message), -EINVAL);
	cr_assert_not_null(message);
	cr_expect_str_eq(
		message,
		"loads on PMU software keeps its period of 7: on CPU 0 the kernel refuses 9223372036854775808: Invalid argument; this period is below the minimum of this CPU");
	cr_expect_eq(perf_event(set)->period, 7);
	page_faults_on(0, 1003);
	cr_expect_geq(expect_exact(), 2 * 1003 / 7);
}
