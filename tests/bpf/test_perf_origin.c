// SPDX-License-Identifier: GPL-2.0
/*
 * The perf origin in the running kernel, on software events. They need no PMU, and everything else is the
 * same. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <criterion/criterion.h>

#include "base/monotonic.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_internal.h"
#include "page_faults.h"
#include "tree.h"

#define FAULTS 2000

static const struct event_spec page_faults = {
	.event = {.role = EVENT_LOADS, .pmu = "software", .period = 1},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
};

static char *root;
static char online[64];
static int program_fd = -1;
static int stats_fd = -1;

static void setup(void)
{
	if (geteuid() != 0)
		cr_skip_test("opening events on all CPUs needs root");
	root = tree_new();
	(void)snprintf(online, sizeof(online), "%s/online", root);
	program_fd = page_faults_program();
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
	return page_faults_runs(program_fd);
}

static void fault_on(int cpu)
{
	page_faults_on(cpu, FAULTS);
}

static struct perf_event_set *open_set(const struct event_spec *spec, const char *path)
{
	struct perf_event_set *set = NULL;
	char *message = NULL;

	cr_assert_eq(perf_open(spec, path, &set, &message), 0, "%s", message);
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
	/* The program saw all of these faults, except the few that the kernel's guard kept from it. */
	cr_expect_geq(runs, FAULTS * cpu_list_count(&cpus) * 99 / 100);
	cr_expect_leq(runs, counts.count);
	cr_expect_gt(counts.enabled_ns, 0);
	cr_expect_eq(counts.enabled_ns, counts.running_ns);
	cr_expect_eq(counts.cpus_in_error, 0);
	cr_expect_eq(perf_event(set)->period, 1);
	cr_expect_eq(perf_event(set)->settings.has_latency, 0);
}

Test(perf_origin, counts_read_after_the_stop_are_final)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = open_set(&page_faults, PERF_ONLINE_PATH);
	struct perf_counts first, second;
	struct cpu_list cpus;
	u64 runs;

	start(set);
	cr_assert_eq(cpu_list_read(PERF_ONLINE_PATH, &cpus), 0);
	fault_on(cpu_list_next(&cpus, -1));
	perf_stop(set);
	perf_count(set, &first);
	runs = program_runs();
	cr_expect_geq(first.count, FAULTS);
	fault_on(cpu_list_next(&cpus, -1));
	perf_count(set, &second);
	cr_expect_eq(second.count, first.count);
	cr_expect_eq(program_runs(), runs);
}

Test(perf_origin, samples_of_a_group_with_a_leader_are_counted)
{
	struct event_spec spec = page_faults;
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	struct perf_counts counts;

	spec.has_leader = true;
	spec.leader_config = PERF_COUNT_SW_DUMMY;
	tree_write(root, "online", "0\n");
	set = open_set(&spec, online);
	fault_on(0);
	perf_count(set, &counts);
	cr_expect_eq(counts.count, 0, "counted before the start");
	start(set);
	fault_on(0);
	perf_count(set, &counts);
	cr_expect_geq(counts.count, FAULTS);
	cr_expect_geq(program_runs(), FAULTS * 99 / 100);
}

static void need_two_cpus(void)
{
	struct cpu_list cpus;

	cr_assert_eq(cpu_list_read(PERF_ONLINE_PATH, &cpus), 0);
	if (!cpu_list_has(&cpus, 0) || !cpu_list_has(&cpus, 1))
		cr_skip_test("needs CPUs 0 and 1");
}

Test(perf_origin, events_follow_cpus_that_go_on_and_offline)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	struct perf_counts first, second, third;
	char *message = NULL;
	u64 runs;

	need_two_cpus();
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

/* A hybrid PMU lists only CPUs that are online. */
Test(perf_origin, a_cpu_that_its_pmu_lists_later_is_sampled)
{
	struct event_spec spec = page_faults;
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	char *message = NULL;
	u64 runs;

	need_two_cpus();
	spec.has_members = true;
	cpu_list_add(&spec.members, 0);
	cr_assert_lt(snprintf(spec.members_source.path, PMU_MEMBERS_PATH_MAX, "%s/cpus", root),
		     PMU_MEMBERS_PATH_MAX);
	tree_write(root, "cpus", "0\n");
	tree_write(root, "online", "0\n");
	set = open_set(&spec, online);
	start(set);
	tree_write(root, "online", "0-1\n");
	cr_expect_eq(perf_hotplug(set, &message), 0, "CPU 1 is of another PMU");
	tree_write(root, "online", "0\n");
	cr_expect_eq(perf_hotplug(set, &message), 0);
	tree_write(root, "cpus", "0-1\n");
	tree_write(root, "online", "0-1\n");
	cr_expect_eq(perf_hotplug(set, &message), 1, "%s", message);
	expect_cpus(set, "0-1");
	runs = program_runs();
	fault_on(1);
	cr_expect_geq(program_runs(), runs + FAULTS * 99 / 100);
	tree_write(root, "cpus", "no list\n");
	tree_write(root, "online", "1\n");
	cr_expect_eq(perf_hotplug(set, &message), 1, "%s", message);
	expect_cpus(set, "1");
}

Test(perf_origin, a_pmu_with_cpus_of_its_own_stays_on_them)
{
	struct event_spec spec = page_faults;
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	char *message = NULL;

	spec.has_members = true;
	cpu_list_add(&spec.members, 0);
	tree_write(root, "online", "0-1\n");
	set = open_set(&spec, online);
	expect_cpus(set, "0");
	tree_write(root, "online", "1\n");
	cr_expect_eq(perf_hotplug(set, &message), 1);
	expect_cpus(set, "");
}

Test(perf_origin, each_cpu_has_its_own_counts_even_when_offline)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	const struct cpu_counts *cpus;
	struct perf_counts counts;
	char *message = NULL;
	u64 first;
	size_t n;

	need_two_cpus();
	tree_write(root, "online", "1\n");
	set = open_set(&page_faults, online);
	start(set);
	tree_write(root, "online", "0-1\n");
	cr_assert_eq(perf_hotplug(set, &message), 1, "%s", message);
	fault_on(1);
	perf_count(set, &counts);
	cpus = perf_count_cpus(set, &n);
	cr_assert_eq(n, 2);
	cr_expect_eq(cpus[0].cpu, 0, "in order of their numbers");
	cr_expect_eq(cpus[1].cpu, 1);
	cr_expect(cpus[0].open && cpus[1].open);
	cr_expect_geq(cpus[1].count, FAULTS);
	cr_expect_eq(cpus[0].count + cpus[1].count, counts.count);
	cr_expect(cpus[0].throttle_known && counts.throttle_known, "the rings could not be mapped");

	tree_write(root, "online", "0\n");
	cr_assert_eq(perf_hotplug(set, &message), 1, "%s", message);
	perf_count(set, &counts);
	cpus = perf_count_cpus(set, &n);
	cr_assert_eq(n, 2);
	cr_expect_not(cpus[1].open);
	first = cpus[1].count;
	cr_expect_geq(first, FAULTS);

	tree_write(root, "online", "0-1\n");
	cr_assert_eq(perf_hotplug(set, &message), 1, "%s", message);
	fault_on(1);
	perf_count(set, &counts);
	cpus = perf_count_cpus(set, &n);
	cr_assert_eq(n, 2, "a CPU that came back is one CPU");
	cr_expect(cpus[1].open);
	cr_expect_geq(cpus[1].count, first + FAULTS);
	cr_expect_eq(cpus[0].count + cpus[1].count, counts.count);
}

/*
 * When a CPU goes offline, its event loses its count towards the next sample. This count is neither a sample
 * nor added to the count of a later event.
 */
Test(perf_origin, partial_periods_of_several_opens_are_not_a_sample)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	struct event_spec spec = page_faults;
	const u64 period = FAULTS * 3 / 4;
	struct perf_counts counts;
	char *message = NULL;

	spec.event.period = period;
	tree_write(root, "online", "0\n");
	set = open_set(&spec, online);
	start(set);
	for (int i = 0; i < 8; i++) {
		fault_on(0);
		tree_write(root, "online", "\n");
		cr_assert_eq(perf_hotplug(set, &message), 1, "%s", message);
		tree_write(root, "online", "0\n");
		cr_assert_eq(perf_hotplug(set, &message), 1, "%s", message);
	}
	perf_count(set, &counts);
	cr_expect_gt(counts.count / period, counts.expected, "nothing was left over");
	cr_expect_eq(counts.expected, program_runs());
}

/* One sample for each 10 us of a busy CPU. The kernel's timer for this event cannot sample more often. */
#define CLOCK_PERIOD 10000

static const struct event_spec cpu_clock = {
	.event = {.role = EVENT_LOADS, .pmu = "software", .period = CLOCK_PERIOD},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CPU_CLOCK,
};

/* The sysctl applies to the whole machine. It is low only for a moment while a CPU is kept busy. */
#define RATE_PATH "/proc/sys/kernel/perf_event_max_sample_rate"
#define LOW_RATE  20000ULL

static u64 rate_before;
static int rate_lock = -1; /* held by the one test, of all processes, that changes the rate */

static int write_rate(u64 rate)
{
	FILE *file = fopen(RATE_PATH, "we");
	int r;

	if (!file)
		return -errno;
	(void)fprintf(file, "%llu\n", (unsigned long long)rate);
	r = fclose(file) == 0 ? 0 : -errno;
	return r;
}

static u64 read_rate(void)
{
	unsigned long long rate = 0;
	FILE *file = fopen(RATE_PATH, "re");

	if (file) {
		if (fscanf(file, "%llu", &rate) != 1)
			rate = 0;
		(void)fclose(file);
	}
	return rate;
}

static void restore_rate(void)
{
	if (rate_before)
		(void)write_rate(rate_before);
	rate_before = 0;
	cleanup_close(&rate_lock);
}

static void throttle_teardown(void)
{
	restore_rate();
	teardown();
}

TestSuite(perf_throttling, .init = setup, .fini = throttle_teardown);

static void lower_rate(void)
{
	u64 rate;

	rate_lock = open(RATE_PATH, O_RDONLY | O_CLOEXEC);
	if (rate_lock < 0 || flock(rate_lock, LOCK_EX) < 0)
		cr_skip_test("cannot lock kernel.perf_event_max_sample_rate");
	rate = read_rate();
	if (rate <= LOW_RATE)
		cr_skip_test("kernel.perf_event_max_sample_rate is not above 20000");
	rate_before = rate;
	if (write_rate(LOW_RATE) < 0) {
		rate_before = 0;
		cr_skip_test(
			"cannot write kernel.perf_event_max_sample_rate (a container, or perf_cpu_time_max_percent is 0 or 100)");
	}
}

static void burn(u64 ns)
{
	u64 end = monotonic_ns() + ns;

	while (monotonic_ns() < end)
		;
}

/*
 * Lowers the maximum sample rate and keeps `cpu` busy for `ns`. Unless a hypervisor takes the CPU away, its
 * event is throttled for a part of that time.
 */
static void burn_throttled(int cpu, u64 ns)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	lower_rate();
	burn(ns);
	restore_rate();
}

static void expect_throttled(const struct perf_counts *counts, u64 elapsed)
{
	cr_expect(counts->throttle_known);
	/* Expect few throttlings: each tick of 1 to 10 ms has at most one. */
	cr_expect_geq(counts->throttles, 3);
	cr_expect_gt(counts->throttled_ns, 100 * NSEC_PER_USEC);
	cr_expect_leq(counts->throttled_ns, elapsed);
}

/*
 * Keeps CPU 0 busy until its event was throttled a few times, or for at most ten seconds. A hypervisor may take
 * the CPU, and with it ticks, away.
 */
static void burn_until_throttled(struct perf_event_set *set, struct perf_counts *ret)
{
	for (int i = 0; i < 160; i++) {
		burn_throttled(0, 60 * NSEC_PER_MSEC);
		perf_count(set, ret);
		if (ret->throttles >= 3 && ret->throttled_ns > 100 * NSEC_PER_USEC)
			break;
	}
}

static struct perf_event_set *open_clock(const struct event_spec *spec)
{
	struct perf_event_set *set = NULL;
	char *message = NULL;

	tree_write(root, "online", "0\n");
	cr_assert_eq(perf_open(spec, online, &set, &message), 0, "%s", message);
	return set;
}

Test(perf_throttling, time_that_the_kernel_stopped_an_event_is_counted)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = open_clock(&cpu_clock);
	struct perf_counts first, second, gone;
	char *message = NULL;
	u64 begun = monotonic_ns(), counted;

	start(set);
	burn_until_throttled(set, &first);
	expect_throttled(&first, monotonic_ns() - begun);
	counted = monotonic_ns();
	perf_count(set, &first);

	/* The total never decreases, and grows by no more than the time that passed. */
	burn(20 * NSEC_PER_MSEC);
	perf_count(set, &second);
	cr_expect_geq(second.throttled_ns, first.throttled_ns);
	cr_expect_leq(second.throttled_ns - first.throttled_ns, monotonic_ns() - counted + NSEC_PER_MSEC);

	/* The counts remain when the CPU goes offline. */
	tree_write(root, "online", "\n");
	cr_assert_eq(perf_hotplug(set, &message), 1, "%s", message);
	perf_count(set, &gone);
	cr_expect_geq(gone.throttled_ns, second.throttled_ns);
	cr_expect_geq(gone.throttles, second.throttles);
	cr_expect(gone.throttle_known);
}

/* Since Linux 6.16 only the leader's ring reports throttling. Before, only the event's ring did. */
Test(perf_throttling, stopped_time_of_a_group_is_counted_once)
{
	struct event_spec spec = cpu_clock;
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	struct perf_counts counts;
	u64 begun, ticks;

	spec.has_leader = true;
	spec.leader_config = PERF_COUNT_SW_CPU_CLOCK;
	set = open_clock(&spec);
	start(set);
	begun = monotonic_ns();
	burn_until_throttled(set, &counts);
	ticks = (monotonic_ns() - begun) / NSEC_PER_MSEC + 2;
	expect_throttled(&counts, monotonic_ns() - begun);
	cr_expect_leq(counts.throttles, ticks, "more often than there can be ticks");
}

/* A ring of one page holds 63 throttle records. It is found full and is larger the next time. */
Test(perf_throttling, a_full_ring_grows)
{
	struct perf_cpu event;
	u64 first;

	cr_assert_eq(perf_cpu_open(&cpu_clock, 0, &event), 0);
	cr_assert_eq(perf_cpu_start(&event, program_fd), 0);
	cr_expect_eq(event.map.data_pages, 1);
	/*
	 * A full ring holds 63 records of 64 bytes; 60 are enough. On a busy host some ticks are missing, so
	 * try up to ten times.
	 */
	for (int i = 0; i < 10 && event.map.page->data_head < 60ULL * 64; i++)
		burn_throttled(0, 400 * NSEC_PER_MSEC);
	perf_cpu_read_throttling(&event);
	first = event.map.throttle.throttles;
	if (first < 60) {
		perf_cpu_close(&event);
		cr_skip_test("the CPU has too few ticks a second to fill a ring in this time");
	}
	cr_expect_eq(event.map.data_pages, 2);
	cr_expect_leq(first, 64);
	for (int i = 0; i < 100 && event.map.throttle.throttles <= first; i++) {
		burn_throttled(0, 30 * NSEC_PER_MSEC);
		perf_cpu_read_throttling(&event);
	}
	cr_expect_gt(event.map.throttle.throttles, first, "the larger ring tells nothing");
	cr_expect(perf_cpu_counts(&event).throttle_known);
	perf_cpu_close(&event);
}

/* The program returns 0, so the ring holds only throttle records, however many samples there are. */
Test(perf_throttling, no_sample_is_written_to_the_ring)
{
	struct perf_cpu event;

	cr_assert_eq(perf_cpu_open(&page_faults, 0, &event), 0);
	cr_assert_eq(perf_cpu_start(&event, program_fd), 0);
	fault_on(0);
	cr_assert_geq(program_runs(), FAULTS * 99 / 100);
	cr_assert_eq(event.map.data_pages, 1);
	cr_expect_eq(event.map.page->data_head, 0);
	perf_cpu_read_throttling(&event);
	cr_expect_eq(perf_cpu_counts(&event).throttles, 0);
	cr_expect_eq(event.map.throttle.lost, 0);
	perf_cpu_close(&event);
}

/* Without rings (kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK) throttling is unknown, which is not 0. */
Test(perf_throttling, without_a_ring_stopped_time_is_unknown)
{
	struct perf_cpu event;

	cr_assert_eq(perf_cpu_open(&page_faults, 0, &event), 0);
	cr_expect(perf_cpu_counts(&event).throttle_known);
	perf_mmap_close(&event.map);
	perf_cpu_read_throttling(&event);
	cr_expect_not(perf_cpu_counts(&event).throttle_known);
	perf_cpu_close(&event);
}

static size_t descriptors_of_events(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++) {
		char link[64], target[64] = {0};

		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof(target) - 1) > 0 && strstr(target, "perf_event"))
			n++;
	}
	return n;
}

Test(perf_origin, a_pause_closes_every_event_and_keeps_its_counts)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	const struct timespec half = {.tv_nsec = 500 * NSEC_PER_MSEC};
	struct event_spec spec = page_faults;
	const u64 period = FAULTS * 3 / 4;
	struct perf_counts before, paused, after;
	char *message = NULL;
	u64 runs, since;

	spec.event.period = period;
	tree_write(root, "online", "0\n");
	cr_assert_eq(perf_open(&spec, online, &set, &message), 0, "%s", message);
	start(set);
	fault_on(0);
	perf_count(set, &before);
	cr_expect_eq(before.paused_ns, 0);

	perf_pause(set);
	cr_expect_eq(descriptors_of_events(), 0, "another tool finds the counters taken");
	expect_cpus(set, "0");
	runs = program_runs();
	fault_on(0);
	cr_expect_eq(program_runs(), runs);
	(void)nanosleep(&half, NULL);
	cr_expect_eq(perf_hotplug(set, &message), 0, "%s", message);
	perf_pause(set); /* a second pause changes nothing */
	cr_expect_eq(descriptors_of_events(), 0);
	since = monotonic_ns();
	perf_count(set, &paused);
	cr_expect_geq(paused.count, before.count);
	cr_expect_eq(paused.expected, runs, "what the closed events were due");
	cr_expect_eq(paused.cpus, 0);
	cr_expect_geq(paused.paused_ns, 500 * NSEC_PER_MSEC);

	/* A CPU that comes online during the pause also counts as paused. */
	tree_write(root, "online", "0-1\n");
	cr_expect_eq(perf_hotplug(set, &message), 0);
	(void)nanosleep(&half, NULL);
	cr_expect_eq(perf_resume(set, &message), 0, "%s", message);
	expect_cpus(set, "0-1");
	perf_count(set, &after);
	cr_expect_geq(after.paused_ns, paused.paused_ns + 1000 * NSEC_PER_MSEC,
		      "two CPUs, half a second each");
	cr_expect_leq(after.paused_ns, paused.paused_ns + 2 * (monotonic_ns() - since) + 500 * NSEC_PER_MSEC);
	cr_expect_eq(descriptors_of_events(), 2);
	fault_on(0);
	perf_count(set, &after);
	cr_expect_gt(program_runs(), runs);
	cr_expect_eq(after.expected, program_runs());
	cr_expect_eq(perf_resume(set, &message), 0, "not paused: nothing to do");
}

Test(perf_origin, events_that_cannot_be_opened_after_a_pause_are_tried_again)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	char *message = NULL;

	tree_write(root, "online", "0\n");
	set = open_set(&page_faults, online);
	start(set);
	perf_pause(set);
	tree_write(root, "online", "nonsense\n");
	cr_expect_lt(perf_resume(set, &message), 0);
	cr_expect_not_null(message);
	free(message);
	tree_write(root, "online", "0\n");
	cr_expect_eq(perf_hotplug(set, &message), 1, "%s", message);
	expect_cpus(set, "0");
}

/* What was paused until then is counted, and what is saved says that the pause is over. */
Test(perf_origin, a_pause_is_counted_even_if_the_list_of_cpus_is_broken_at_its_end)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	struct perf_counts counts;
	char *message = NULL;

	tree_write(root, "online", "0\n");
	set = open_set(&page_faults, online);
	start(set);
	perf_pause(set);
	tree_write(root, "online", "nonsense\n");
	cr_expect_lt(perf_resume(set, &message), 0);
	free(message);
	perf_count(set, &counts);
	cr_expect_gt(counts.paused_ns, 0);
}

/* CPU 4000 does not exist, so the event cannot be opened there. */
Test(perf_origin, a_cpu_that_fails_does_not_leave_the_others_in_error)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	struct perf_counts before, after;
	char *message = NULL;

	tree_write(root, "online", "0\n");
	set = open_set(&page_faults, online);
	start(set);
	/* As if another pinned event had taken the counter. */
	cr_assert_eq(ioctl(set->events[0].fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	set->events[0].outage.in_error = true;
	perf_count(set, &before);
	set->events[0].outage.in_error = true;
	tree_write(root, "online", "0,4000\n");
	cr_expect_lt(perf_hotplug(set, &message), 0);
	free(message);
	fault_on(0);
	perf_count(set, &after);
	cr_expect_geq(after.count, before.count + FAULTS);
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

Test(perf_origin, failed_opens_have_a_reason)
{
	struct event_spec nobody = page_faults;
	struct perf_event_set *set = NULL;
	char *message = NULL;

	nobody.type = 0x7fffffff;
	cr_expect_eq(perf_open(&nobody, PERF_ONLINE_PATH, &set, &message), -ENOENT);
	cr_expect_not_null(strstr(message, "cannot open loads on PMU software, CPU 0 (type 2147483647"), "%s",
			   message);
	free(message);
	tree_write(root, "online", "\n");
	cr_expect_eq(perf_open(&page_faults, online, &set, &message), -ENODEV);
	cr_expect_not_null(strstr(message, "no online CPU of the PMU is among those"), "%s", message);
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

/* When a CPU goes offline and comes back, the kernel leaves its event off, and nothing enables it. */
Test(perf_origin, a_stalled_event_is_noticed)
{
	const struct timespec moment = {.tv_nsec = 2000000};
	struct perf_cpu event;

	cr_assert_eq(perf_cpu_open(&page_faults, 0, &event), 0);
	cr_assert_eq(perf_cpu_start(&event, program_fd), 0);
	for (int i = 0; i < 4; i++) {
		(void)nanosleep(&moment, NULL);
		perf_cpu_update(&event, true);
		cr_expect_not(event.detached, "running, taken for detached at reading %d", i);
	}
	cr_assert_eq(ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	for (int i = 0; i < 3; i++) {
		(void)nanosleep(&moment, NULL);
		perf_cpu_update(&event, true);
	}
	cr_expect(event.detached);
	cr_expect_not(event.outage.in_error);
	perf_cpu_close(&event);
}

Test(perf_origin, every_descriptor_is_closed)
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
