// SPDX-License-Identifier: GPL-2.0
/*
 * The calibration's measurements in the running kernel. Page faults stand in for samples, because every
 * machine has them. Needs root. The measured times depend on the machine. Therefore the tests check that
 * samples came, and which measurements fail and why.
 */
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

static struct event_spec faults = {
	.event = {.role = EVENT_LOADS, .pmu = "software", .period = 1},
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.period_min = 1,
	.period_step = 1,
	.pinned = true,
};

static struct calibrate_program program = {.fd = -1};
static int stats_fd = -1;
static bool stop;
static struct calibrate_result result;

static void setup(void)
{
	if (geteuid() != 0)
		cr_skip_test("loading a program needs root");
	program.fd = page_faults_counting_program(&program.runs);
	cr_assert_geq(program.fd, 0, "cannot load a BPF program: %s", strerror(errno));
	stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	cr_assert_geq(stats_fd, 0, "cannot switch on BPF statistics: %s", strerror(errno));
}

static void teardown(void)
{
	cleanup_close(&stats_fd);
	cleanup_close(&program.fd);
}

TestSuite(calibrate_measure, .init = setup, .fini = teardown);

/* Touches one fresh page per unit, at most 65536 pages. */
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

/* Work without page faults. */
static void compute(void *userdata, u64 units)
{
	volatile u64 sum = 0;

	(void)userdata;
	while (units--)
		sum += units;
}

/* The first call takes 5 ms more, as if a hypervisor had given the CPU to another machine. */
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

static void expect_refused(const struct event_spec *spec, u64 max_rate, calibrate_work work,
			   const char *reason)
{
	u64 before = page_faults_runs(program.fd);

	result = (struct calibrate_result){0};
	calibrate_measure(spec, &program, max_rate, work, NULL, &stop, &result);
	cr_expect_not(result.dense.known);
	cr_expect_not(result.sparse.known);
	cr_expect(strstr(result.dense.reason, reason), "%s", result.dense.reason);
	cr_expect_str_eq(result.sparse.reason, result.dense.reason);
	cr_expect_eq(page_faults_runs(program.fd), before);
}

/* On a busy machine, a timing may be unknown. */
static void expect_plausible(const struct calibrate_timing *timing)
{
	if (timing->known)
		cr_expect(timing->ns > 0 && timing->ns < 1e6, "%g ns", timing->ns);
	else
		cr_expect(
			strstr(timing->reason, "differed too much") ||
				strstr(timing->reason,
				       "something else, such as another task, a hypervisor or the firmware, took the CPU"),
			"%s", timing->reason);
}

/* A round aims at 50 samples. */
#define SAMPLES_MIN (CALIBRATE_ROUNDS * 8UL)

Test(calibrate_measure, the_thread_samples_its_own_work)
{
	calibrate_measure(&faults, &program, MAX_RATE, touch, NULL, &stop, &result);
	cr_expect_geq(page_faults_runs(program.fd), SAMPLES_MIN);
	expect_plausible(&result.dense);
}

/* The dense timing is preset, so all samples come from the sparse measurement. Their number is not fixed. */
Test(calibrate_measure, sparse_samples_are_timed_one_by_one)
{
	const u64 before = *program.runs;

	result.dense = (struct calibrate_timing){.known = true, .ns = 1234, .per_second = 25000};
	calibrate_measure(&faults, &program, MAX_RATE, touch, NULL, &stop, &result);
	cr_expect_eq(result.dense.ns, 1234);
	cr_expect_geq(*program.runs - before, CALIBRATE_ROUNDS / 2, "%s", result.sparse.reason);
	cr_expect_leq(*program.runs - before, 8ULL * CALIBRATE_ROUNDS_MAX, "they are not sparse");
	expect_plausible(&result.sparse);
	if (result.sparse.known)
		cr_expect_eq(result.sparse.per_second, CALIBRATE_SPARSE_PER_SECOND);
}

Test(calibrate_measure, known_timings_are_not_measured_again)
{
	const u64 before = *program.runs;

	result.dense = (struct calibrate_timing){.known = true, .ns = 1234, .per_second = 25000};
	result.sparse = (struct calibrate_timing){.known = true, .ns = 3456, .per_second = 100};
	calibrate_measure(&faults, &program, MAX_RATE, touch, NULL, &stop, &result);
	cr_expect_eq(result.dense.ns, 1234);
	cr_expect_eq(result.sparse.ns, 3456);
	cr_expect_eq(*program.runs, before);
}

Test(calibrate_measure, an_interrupted_timing_does_not_end_the_measurement)
{
	bool interrupted = false;

	calibrate_measure(&faults, &program, MAX_RATE, touch_interrupted, &interrupted, &stop, &result);
	cr_expect(interrupted);
	cr_expect_geq(page_faults_runs(program.fd), SAMPLES_MIN, "%s", result.dense.reason);
}

Test(calibrate_measure, the_stop_flag_ends_the_measurement)
{
	stop = true;
	calibrate_measure(&faults, &program, MAX_RATE, touch, NULL, &stop, &result);
	cr_expect_not(result.dense.known);
	cr_expect_eq(page_faults_runs(program.fd), 0);
}

Test(calibrate_measure, a_failed_measurement_has_a_reason)
{
	struct event_spec spec = faults;

	spec.only_counter = 4;
	expect_refused(&spec, MAX_RATE, touch,
		       "only one counter can run the event, and pebsd is sampling with it");
	spec = faults;
	spec.config = 999;
	expect_refused(&spec, MAX_RATE, touch, "cannot open an event for the measuring thread: ");
	expect_refused(&faults, MAX_RATE, compute, "the measured work causes too few samples");
	expect_refused(&faults, 100, touch,
		       "kernel.perf_event_max_sample_rate is 100, and the measurement needs at least 250");
}

/* Nothing reports the end of a calibration, so this looks again and again. */
static const struct calibrate_result *wait_for_results(const struct calibration *calibration)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	const struct calibrate_result *results;

	while (!(results = calibration_results(calibration)))
		(void)nanosleep(&moment, NULL);
	return results;
}

Test(calibrate_measure, each_event_has_its_own_result, .timeout = 60)
{
	struct event_spec only = faults, unknown = faults;
	const struct event_spec *specs[] = {&faults, &only, &unknown, &only};
	const struct calibrate_result *results;
	struct calibration *calibration = NULL;

	only.only_counter = 1;
	unknown.config = 999;
	unknown.precise_ip = 3;
	cr_assert_eq(calibration_new(specs, 4, NULL, &program, MAX_RATE, &calibration), 0);
	/* results[0] has no timing, because the thread's own work causes too few page faults. */
	results = wait_for_results(calibration);
	cr_expect(strstr(results[0].dense.reason, "causes too few samples"), "%s", results[0].dense.reason);
	cr_expect(strstr(results[1].dense.reason, "only one counter"), "%s", results[1].dense.reason);
	cr_expect(strstr(results[2].dense.reason, "cannot open an event"), "%s", results[2].dense.reason);
	cr_expect_str_eq(results[3].dense.reason, results[1].dense.reason);
	cr_expect_null(calibration_free(calibration));
}

Test(calibrate_measure, known_timings_are_shared_with_other_events_and_not_measured_again, .timeout = 60)
{
	const struct event_spec *specs[] = {&faults, &faults};
	const struct calibrate_result before[] = {
		{.dense = {.reason = "the counter was taken"}, .sparse = {.reason = "the counter was taken"}},
		{.dense = {.known = true, .ns = 1234}, .sparse = {.known = true, .ns = 3456}},
	};
	const struct calibrate_result *results;
	struct calibration *calibration = NULL;

	cr_assert_eq(calibration_new(specs, 2, before, &program, MAX_RATE, &calibration), 0);
	results = wait_for_results(calibration);
	for (size_t i = 0; i < 2; i++) {
		cr_expect(results[i].dense.known, "%s", results[i].dense.reason);
		cr_expect_eq(results[i].dense.ns, 1234);
		cr_expect(results[i].sparse.known, "%s", results[i].sparse.reason);
		cr_expect_eq(results[i].sparse.ns, 3456);
	}
	cr_expect_null(calibration_free(calibration));
}

/*
 * Events without a result share none, so each of them is measured. If freeing did not stop the measurements, they would
 * exceed the time limit of the test.
 */
Test(calibrate_measure, freeing_a_running_calibration_ends_it, .timeout = 60)
{
	const struct event_spec *specs[2000];
	struct calibration *calibration = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		specs[i] = &faults;
	cr_assert_eq(calibration_new(specs, ARRAY_SIZE(specs), NULL, &program, MAX_RATE, &calibration), 0);
	cr_expect_null(calibration_free(calibration));
	cr_expect_null(calibration_free(NULL));
}
