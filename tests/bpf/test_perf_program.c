// SPDX-License-Identifier: GPL-2.0
/*
 * The perf_event program in the running kernel, on software events: every run is counted in the
 * right cgroup, and no memory field is invented. Software events do not run in NMI context.
 */
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

#include "cgroup_fixture.h"
#include "counting.h"
#include "software_event.h"

static struct counting counting;

static void open_program(bool read_by_probe)
{
	struct kernel_settings settings = counting_settings(true);

	settings.births = settings.hardware = true;
	settings.read_by_probe = read_by_probe;
	counting_open(&counting, &settings, COLLECT_GRACE_NS);
}

static void teardown(void)
{
	counting_close(&counting);
	cgroup_fixture_teardown();
}

TestSuite(perf_program, .init = cgroup_fixture_setup, .fini = teardown);

static u64 program_runs(int program_fd)
{
	struct bpf_prog_info info = {0};
	u32 bytes = sizeof(info);

	cr_assert_eq(bpf_obj_get_info_by_fd(program_fd, &info, &bytes), 0);
	return info.run_cnt;
}

static struct counters counters_of(const char *name)
{
	_cleanup_free_ char *path = NULL;

	cr_assert_geq(asprintf(&path, "%s/%s", cgroup_fixture.path, name), 0);
	return counting_counters(&counting, path, 0);
}

/* The fixture's own cgroup is older than the programs on the tracepoints. Adopt it, like the walk at the start. */
static void adopt_fixture(void)
{
	cr_assert_gt(kernel_adopt(counting.kernel, 1, 0, ""), 0);
	cr_assert_gt(kernel_adopt(counting.kernel, cgroup_fixture_id(), 1, cgroup_fixture.path + 1), 0);
}

/* Page faults with period 1: the event count, the program's runs and pebsd's samples are equal. */
static void every_page_fault_is_counted(u64 sample_type, bool read_by_probe)
{
	_cleanup_close_ int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	unsigned pages = 5000;
	struct cgroup_child child;
	struct counters counters;
	_cleanup_close_ int fd = -1;
	u64 count, runs, seen;
	int program_fd;

	cr_assert_geq(statistics, 0);
	open_program(read_by_probe);
	program_fd = kernel_program_fd(counting.kernel, 0);
	adopt_fixture();
	cgroup_fixture_make("worker");
	child = cgroup_fixture_child("worker", touch_pages, &pages);
	fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_PAGE_FAULTS,
							  .period = 1,
							  .sample_type = sample_type,
							  .pid = child.pid,
							  .cpu = -1},
				 program_fd);
	software_event_enable(fd);
	cgroup_fixture_go(&child);
	count = software_event_count(fd);
	runs = program_runs(program_fd);
	counting_collect(&counting);

	counters = counters_of("worker");
	seen = counters_samples(&counters);
	printf("page faults: %llu events, %llu program runs, %llu seen, difference %lld\n",
	       (unsigned long long)count, (unsigned long long)runs, (unsigned long long)seen,
	       (long long)(count - seen));
	cr_expect_geq(count, pages);
	cr_expect_eq(runs, count);
	cr_expect_eq(seen, count);
	cr_expect_eq(counters_weight(&counters), count, "each sample's weight is its period, 1");
	cr_expect_eq(counting_unattributed(&counting, 0), 0);

	/* This event measures neither latency nor data source, whatever the kernel's fields hold. */
	cr_expect_eq(counters.samples[SOURCE_UNKNOWN], seen);
	cr_expect_eq(counters.snoop[SNOOP_NA], seen);
	cr_expect_eq(counters.tlb[TLB_NA], seen);
	for (size_t i = 0; i < FLAG_COUNT; i++)
		cr_expect_eq(counters.flags[i], 0, "flag %zu", i);
	cr_expect_eq(counters_latency_samples(&counters), 0);
	cr_expect_eq(counters_latency_sum(&counters), 0);
	cgroup_fixture_remove("worker");
}

#define MEMORY_FIELDS (PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC)

Test(perf_program, fields_that_were_not_asked_for_are_not_read)
{
	every_page_fault_is_counted(0, false);
}

Test(perf_program, fields_that_the_event_does_not_fill_are_not_invented)
{
	every_page_fault_is_counted(MEMORY_FIELDS, false);
}

Test(perf_program, before_linux_6_2_unrequested_fields_are_not_read)
{
	every_page_fault_is_counted(0, true);
}

Test(perf_program, before_linux_6_2_unfilled_fields_are_not_invented)
{
	every_page_fault_is_counted(MEMORY_FIELDS, true);
}

static int spin(void *userdata)
{
	const struct timespec *how_long = userdata;
	struct timespec now;

	do {
		if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) < 0)
			return 1;
	} while (now.tv_sec < how_long->tv_sec ||
		 (now.tv_sec == how_long->tv_sec && now.tv_nsec < how_long->tv_nsec));
	return 0;
}

Test(perf_program, timer_samples_are_counted_in_the_running_cgroup)
{
	struct timespec half_a_second = {.tv_nsec = 500000000};
	struct cgroup_child child;
	_cleanup_close_ int fd = -1;
	struct counters counters;
	u64 seen;

	open_program(false);
	adopt_fixture();
	cgroup_fixture_make("spinner");
	child = cgroup_fixture_child("spinner", spin, &half_a_second);
	fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_CPU_CLOCK,
							  .period = NSEC_PER_MSEC,
							  .pid = child.pid,
							  .cpu = -1},
				 kernel_program_fd(counting.kernel, 0));
	software_event_enable(fd);
	cgroup_fixture_go(&child);
	counting_collect(&counting);
	counters = counters_of("spinner");
	seen = counters_samples(&counters);
	printf("cpu-clock: %llu samples of 1 ms in half a second of CPU time\n", (unsigned long long)seen);
	cr_expect_gt(seen, 250);
	cr_expect_eq(counting_unattributed(&counting, 0), 0);
	cgroup_fixture_remove("spinner");
}

Test(perf_program, samples_of_two_concurrent_cgroups_are_not_mixed)
{
	unsigned few = 300, many = 4000;
	struct cgroup_child children[2];
	int fds[2];
	const unsigned *pages[2] = {&few, &many};
	const char *names[2] = {"few", "many"};

	open_program(false);
	adopt_fixture();
	for (size_t i = 0; i < 2; i++) {
		cgroup_fixture_make(names[i]);
		children[i] = cgroup_fixture_child(names[i], touch_pages, (void *)pages[i]);
		fds[i] = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_PAGE_FAULTS,
								      .period = 1,
								      .pid = children[i].pid,
								      .cpu = -1},
					     kernel_program_fd(counting.kernel, 0));
		software_event_enable(fds[i]);
	}
	for (size_t i = 0; i < 2; i++)
		cgroup_fixture_go(&children[i]);
	counting_collect(&counting);
	for (size_t i = 0; i < 2; i++) {
		struct counters counters = counters_of(names[i]);

		cr_expect_eq(counters_samples(&counters), software_event_count(fds[i]));
		(void)close(fds[i]);
		cgroup_fixture_remove(names[i]);
	}
}
