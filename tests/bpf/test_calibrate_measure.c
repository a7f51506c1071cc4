// SPDX-License-Identifier: GPL-2.0
/* The calibration's measuring in the running kernel, with page faults for samples, which any machine has. As
 * root. What comes out is the machine's; that samples came, and what is refused, is not. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <criterion/criterion.h>

#include "govern/calibrate.h"
#include "page_faults.h"

#define MAX_RATE 1000000

static struct pmu_opening faults = {
	.event = {.role = EVENT_LOADS, .pmu = "software", .period = 1},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.period_min = 1,
	.period_step = 1,
	.pinned = true,
};

static int program_fd = -1;
static int stats_fd = -1;
static bool stop;
static struct calibrate_result result;

static void setup(void)
{
	if (geteuid() != 0)
		cr_skip_test("loading a program needs root");
	program_fd = page_faults_program();
	cr_assert_geq(program_fd, 0, "cannot load a BPF program: %s", strerror(errno));
	stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	cr_assert_geq(stats_fd, 0, "cannot switch on BPF statistics: %s", strerror(errno));
}

static void teardown(void)
{
	cleanup_close(&stats_fd);
	cleanup_close(&program_fd);
}

TestSuite(calibrate_measure, .init = setup, .fini = teardown);

/* A page a unit. */
static void touch(void *userdata, u64 units)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t bytes = (size_t)(units < 65536 ? units : 65536) * page;
	volatile char *memory;

	(void)userdata;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(memory, MAP_FAILED);
	(void)madvise((void *)memory, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += page)
		memory[at] = 1;
	(void)munmap((void *)memory, bytes);
}

static void think(void *userdata, u64 units)
{
	volatile u64 sum = 0;

	(void)userdata;
	while (units--)
		sum += units;
}

/* The first page takes as long as a hypervisor may that gave the CPU to another machine. */
static void touch_interrupted(void *userdata, u64 units)
{
	const u64 stolen_ns = 5000000;
	struct timespec now;
	bool *interrupted = userdata;
	u64 until;

	touch(NULL, units);
	if (*interrupted)
		return;
	*interrupted = true;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	until = (u64)now.tv_sec * 1000000000ULL + (u64)now.tv_nsec + stolen_ns;
	do
		(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((u64)now.tv_sec * 1000000000ULL + (u64)now.tv_nsec < until);
}

static void expect_refused(const struct pmu_opening *opening, u64 max_rate, calibrate_work work,
			   const char *reason)
{
	u64 before = page_faults_runs(program_fd);

	calibrate_measure(opening, program_fd, max_rate, work, NULL, &stop, &result);
	cr_expect_not(result.known);
	cr_expect(strstr(result.reason, reason), "%s", result.reason);
	cr_expect_eq(page_faults_runs(program_fd), before);
}

Test(calibrate_measure, the_thread_samples_its_own_work)
{
	calibrate_measure(&faults, program_fd, MAX_RATE, touch, NULL, &stop, &result);
	cr_expect_geq(page_faults_runs(program_fd), CALIBRATE_ROUNDS * 8UL);
	if (result.known)
		cr_expect(result.interrupt_ns > 0 && result.interrupt_ns < 1e6, "%g ns", result.interrupt_ns);
	else
		cr_expect(strstr(result.reason, "differed too much"), "%s", result.reason);
}

Test(calibrate_measure, an_interrupted_timing_does_not_end_it)
{
	bool interrupted = false;

	calibrate_measure(&faults, program_fd, MAX_RATE, touch_interrupted, &interrupted, &stop, &result);
	cr_expect(interrupted);
	cr_expect_geq(page_faults_runs(program_fd), CALIBRATE_ROUNDS * 8UL, "%s", result.reason);
}

Test(calibrate_measure, it_ends_when_it_is_to)
{
	stop = true;
	calibrate_measure(&faults, program_fd, MAX_RATE, touch, NULL, &stop, &result);
	cr_expect_not(result.known);
	cr_expect_leq(page_faults_runs(program_fd), 8, "of the work that finds out how fast it is");
}

Test(calibrate_measure, what_cannot_be_measured_says_why)
{
	struct pmu_opening opening = faults;

	opening.only_counter = 4;
	expect_refused(&opening, MAX_RATE, touch, "one counter alone can hold the event, and it is in use");
	opening = faults;
	opening.config = 999;
	expect_refused(&opening, MAX_RATE, touch, "an event of this thread cannot be opened: ");
	expect_refused(&faults, MAX_RATE, think, "the work that is timed makes too few samples");
	expect_refused(&faults, 100, touch, "kernel.perf_event_max_sample_rate allows too few samples");
}

Test(calibrate_measure, a_thread_of_its_own_does_it_for_each_event)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	struct pmu_opening only = faults, unknown = faults;
	const struct pmu_opening *openings[] = {&faults, &only, &unknown, &only};
	const struct calibrate_result *results = NULL;
	struct calibration *calibration = NULL;

	only.only_counter = 1;
	unknown.config = 999;
	unknown.precise_ip = 3;
	cr_assert_eq(calibration_new(openings, 4, NULL, program_fd, MAX_RATE, &calibration), 0);
	/* Its own work faults too seldom. */
	for (int i = 0; i < 1000 && !results; i++) {
		(void)nanosleep(&moment, NULL);
		results = calibration_results(calibration);
	}
	cr_assert(results, "it came to no end");
	cr_expect(strstr(results[0].reason, "makes too few samples"), "%s", results[0].reason);
	cr_expect(strstr(results[1].reason, "one counter alone"), "%s", results[1].reason);
	cr_expect(strstr(results[2].reason, "cannot be opened"), "%s", results[2].reason);
	cr_expect_str_eq(results[3].reason, results[1].reason);
	cr_expect_null(calibration_free(calibration));
}

Test(calibrate_measure, what_is_known_is_not_measured_again_and_serves_others)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	const struct pmu_opening *openings[] = {&faults, &faults};
	const struct calibrate_result before[] = {{.reason = "the counter was taken"},
						  {.known = true, .interrupt_ns = 1234}};
	const struct calibrate_result *results = NULL;
	struct calibration *calibration = NULL;

	cr_assert_eq(calibration_new(openings, 2, before, program_fd, MAX_RATE, &calibration), 0);
	for (int i = 0; i < 1000 && !results; i++) {
		(void)nanosleep(&moment, NULL);
		results = calibration_results(calibration);
	}
	cr_assert(results, "it came to no end");
	for (size_t i = 0; i < 2; i++) {
		cr_expect(results[i].known, "%s", results[i].reason);
		cr_expect_eq(results[i].interrupt_ns, 1234);
	}
	cr_expect_null(calibration_free(calibration));
}

Test(calibrate_measure, who_does_not_wait_for_it_ends_it)
{
	const struct pmu_opening *openings[] = {&faults};
	struct calibration *calibration = NULL;

	cr_assert_eq(calibration_new(openings, 1, NULL, program_fd, MAX_RATE, &calibration), 0);
	cr_expect_null(calibration_free(calibration));
	cr_expect_null(calibration_free(NULL));
}
