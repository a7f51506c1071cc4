// SPDX-License-Identifier: GPL-2.0
/* Measures the rounds of a calibration: the time that work takes with samples and without. */
#include "govern/calibrate.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "origin/perf/perf_backend.h"
#include "origin/pmu/perf_attr.h"

#define NS_A_SECOND 1e9

/*
 * CPU time of the work in half a round, and the samples in it. If a sample takes a microsecond, the samples
 * add a twentieth to that time.
 */
#define HALF_NS      1e6
#define HALF_SAMPLES 50.0

/*
 * With fewer samples than this, the difference is chance. The half round is then made longer, altogether up
 * to LONGER_MOST times as long as find_units() made it.
 */
#define HALF_SAMPLES_LEAST 4.0
#define LONGER_MOST        64

/* The calibration uses at most 1 / PART_OF_RATE of the rate that the kernel allows. */
#define PART_OF_RATE 4.0

/*
 * Time of a piece of the sparse work. The piece is short enough that the variation of the work itself is
 * smaller than an interrupt of some microseconds.
 */
#define PIECE_NS 1e4

/*
 * A piece with an interrupt is compared with the median of this many pieces without one. After every
 * PIECES_STROLL pieces the work runs through other code, which happens several times between two interrupts.
 */
#define PIECES_RECENT 15
#define PIECES_STROLL 64

/*
 * The events per unit of work are counted over one half round, then over twice as many each time, until one
 * count has COUNT_EVENTS events, which is certain enough, or covers COUNT_HALVES half rounds.
 */
#define COUNT_EVENTS 20000
#define COUNT_HALVES 32

/* The number of tries, and the time between them: a counter may be in use only for a moment. */
#define TRIES    8
#define TRIES_NS 2000000

/* The number of timings, of which the shortest counts, because an interruption can only lengthen one. */
#define TIMINGS 3

/*
 * Limits: UNITS_MAX if a unit takes almost no time, SECONDS_MAX if the work is slow (an emulated CPU) or its
 * rounds fail.
 */
#define UNITS_MAX   (1ULL << 32)
#define SECONDS_MAX 2.0

struct meter {
	int leader_fd; /* -1: none */
	int fd;
};

struct meter_reading {
	u64 count;
	u64 enabled_ns;
	u64 running_ns;
};

static double cpu_time_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * NS_A_SECOND + (double)now.tv_nsec;
}

static void meter_close(struct meter *meter)
{
	cleanup_close(&meter->fd);
	cleanup_close(&meter->leader_fd);
}

/* Opens the event like the sampling one, but for this thread only, and pinned (see the header). */
static int meter_open(const struct event_spec *spec, u64 period, int program_fd, struct meter *ret)
{
	struct event_spec own = *spec;
	_cleanup_(meter_close) struct meter meter = {.leader_fd = -1, .fd = -1};
	struct perf_event_attr attr;

	own.pinned = true;
	if (own.has_leader) {
		perf_attr_leader(&own, &attr);
		meter.leader_fd = perf_backend_thread(&attr, -1);
		if (meter.leader_fd < 0)
			return meter.leader_fd;
	}
	perf_attr(&own, period, &attr);
	meter.fd = perf_backend_thread(&attr, meter.leader_fd);
	if (meter.fd < 0)
		return meter.fd;
	if (ioctl(meter.fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0)
		return -errno;
	*ret = (struct meter){.leader_fd = TAKE_FD(meter.leader_fd), .fd = TAKE_FD(meter.fd)};
	return 0;
}

static int meter_control(const struct meter *meter, unsigned long request)
{
	return ioctl(meter->leader_fd >= 0 ? meter->leader_fd : meter->fd, request, PERF_IOC_FLAG_GROUP) < 0
		       ? -errno
		       : 0;
}

static int meter_read(const struct meter *meter, struct meter_reading *ret)
{
	return read(meter->fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret) ? 0 : -EIO;
}

static double time_work(calibrate_work work, void *userdata, u64 units)
{
	const double before = cpu_time_ns();

	work(userdata, units);
	return cpu_time_ns() - before;
}

static double time_least(calibrate_work work, void *userdata, u64 units)
{
	double least = time_work(work, userdata, units);

	for (int i = 1; i < TIMINGS; i++) {
		const double took = time_work(work, userdata, units);

		if (took < least)
			least = took;
	}
	return least;
}

/* Returns the units that take about HALF_NS. */
static u64 find_units(calibrate_work work, void *userdata)
{
	u64 units = 1;

	for (;;) {
		double took = time_least(work, userdata, units);

		if (took >= HALF_NS / 4 || units >= UNITS_MAX) {
			double wanted = (double)units * HALF_NS / (took > 1 ? took : 1);

			return wanted < 1 ? 1 : wanted > (double)UNITS_MAX ? UNITS_MAX : (u64)wanted;
		}
		units *= 2;
	}
}

/*
 * A pinned event that found no counter is in the error state, and cannot be read until it is enabled again.
 */
static int meter_revive(const struct meter *meter, struct meter_reading *ret)
{
	if (meter_control(meter, PERF_EVENT_IOC_ENABLE) < 0 ||
	    meter_control(meter, PERF_EVENT_IOC_DISABLE) < 0)
		return -EIO;
	return meter_read(meter, ret);
}

/*
 * Does the work with the event enabled. Returns the CPU time, or a negative number if the event did not count
 * all the time.
 */
static double work_metered(const struct meter *meter, calibrate_work work, void *userdata, u64 units,
			   struct meter_reading *before, struct meter_reading *after)
{
	double took;

	if ((meter_read(meter, before) < 0 && meter_revive(meter, before) < 0) ||
	    meter_control(meter, PERF_EVENT_IOC_ENABLE) < 0)
		return -1;
	took = time_work(work, userdata, units);
	(void)meter_control(meter, PERF_EVENT_IOC_DISABLE);
	/* A leader in the error state stops the time of its group: if no time passed, nothing was counted. */
	if (meter_read(meter, after) < 0 || after->enabled_ns == before->enabled_ns ||
	    after->running_ns - before->running_ns != after->enabled_ns - before->enabled_ns)
		return -1;
	return took;
}

static int refuse(struct calibrate_result *result, const char *what, int error)
{
	char reason[CALIBRATE_REASON_MAX];

	(void)snprintf(reason, sizeof(reason), "%s%s%s", what, error ? ": " : "",
		       error ? strerror(-error) : "");
	calibrate_refuse(result, reason);
	return -1;
}

struct task {
	const struct calibrate_program *program;
	calibrate_work work;
	void *userdata;
	u64 units;   /* in half a round */
	u64 longest; /* most units in half a round */
	u64 max_rate;
	double unit_ns; /* approximate time of a unit */
	double events;  /* events that a unit makes */
	u64 period;
	const bool *stop;
};

static bool stopped(const struct task *task)
{
	return __atomic_load_n(task->stop, __ATOMIC_RELAXED);
}

/* Same as work_metered(), but retries if the counter is in use. */
static double try_metered(const struct meter *meter, const struct task *task, u64 units,
			  struct meter_reading *before, struct meter_reading *after)
{
	const struct timespec moment = {.tv_nsec = TRIES_NS};
	double took = -1;

	for (int i = 0; i < TRIES && took < 0 && !stopped(task); i++) {
		if (i > 0)
			(void)nanosleep(&moment, NULL);
		took = work_metered(meter, task->work, task->userdata, units, before, after);
	}
	return took;
}

static int refuse_counter(struct calibrate_result *result)
{
	return refuse(
		result,
		"no counter is free for the measurement, because pinned events of pebsd, and perhaps of the NMI watchdog or another profiler, hold all suitable counters",
		0);
}

/*
 * Counts the events in a unit of the work. Returns a negative number if they cannot be counted. An
 * interruption of the work does no harm here: the number of its events stays the same.
 */
static double find_rate(const struct meter *meter, const struct task *task)
{
	double events = 0;
	u64 units = task->units;

	for (u64 halves = 1; halves <= COUNT_HALVES && events < COUNT_EVENTS && !stopped(task); halves *= 2) {
		struct meter_reading before = {0}, after = {0};

		units = task->units * halves;
		if (try_metered(meter, task, units, &before, &after) < 0)
			return -1;
		events = (double)(after.count - before.count);
	}
	return events / (double)units;
}

/* Rounds a period up to one that the PMU accepts. A longer one than the PMU accepts becomes the longest. */
static u64 fit_period(const struct event_spec *spec, double period)
{
	const u64 step = spec->period_step ? spec->period_step : 1;
	const double least = spec->period_min > 1 ? spec->period_min : 1;
	const double most = INT32_MAX / 64 * 64;

	period = period > most ? most : period > least ? period : least;
	return ((u64)period + step - 1) / step * step;
}

/*
 * Returns a period at which half a round has HALF_SAMPLES, or fewer if PART_OF_RATE does not allow as many.
 */
static u64 find_period(const struct event_spec *spec, double half_events, u64 max_rate)
{
	const double allowed =
		max_rate ? (double)max_rate / PART_OF_RATE * HALF_NS / NS_A_SECOND : HALF_SAMPLES;

	return fit_period(spec, half_events / (allowed < HALF_SAMPLES ? allowed : HALF_SAMPLES));
}

/* Makes half a round long enough. Returns 0, or -1 with the reason why it cannot. */
static int find_length(const struct meter *meter, struct task *task, struct calibrate_result *result)
{
	char reason[CALIBRATE_REASON_MAX];
	double took = 0, samples = 0;

	for (; !stopped(task); task->units *= 2) {
		struct meter_reading before = {0}, after = {0};

		took = try_metered(meter, task, task->units, &before, &after);
		if (took < 0)
			return refuse_counter(result);
		samples = (double)(after.count - before.count) / (double)task->period;
		if (samples >= HALF_SAMPLES_LEAST)
			return 0;
		if (task->units * 2 > task->longest)
			break;
	}
	(void)snprintf(reason, sizeof(reason),
		       "the measured work causes too few samples: %.1f in %.1f ms with a period of %llu",
		       samples, took / 1e6, (unsigned long long)task->period);
	return refuse(result, reason, 0);
}

/* Opens the event and counts the events of a unit. */
static int prepare(const struct event_spec *spec, struct task *task, struct meter *meter,
		   struct calibrate_result *result)
{
	const double least_rate = HALF_SAMPLES_LEAST * PART_OF_RATE * NS_A_SECOND / (HALF_NS * LONGER_MOST);
	char reason[CALIBRATE_REASON_MAX];
	int r;

	if (task->max_rate && (double)task->max_rate < least_rate) {
		(void)snprintf(
			reason, sizeof(reason),
			"kernel.perf_event_max_sample_rate is %llu, and the measurement needs at least %.0f (raise that sysctl)",
			(unsigned long long)task->max_rate, least_rate);
		return refuse(result, reason, 0);
	}
	/* The first period is so long that hardly any sample comes: only the work's events are counted. */
	r = meter_open(spec, INT32_MAX / 64 * 64, task->program->fd, meter);
	if (r < 0)
		return refuse(result, "cannot open an event for the measuring thread", r);
	task->events = find_rate(meter, task);
	if (task->events < 0)
		return refuse_counter(result);
	return 0;
}

static int set_period(const struct meter *meter, struct task *task, u64 period,
		      struct calibrate_result *result)
{
	task->period = period;
	if (ioctl(meter->fd, PERF_EVENT_IOC_PERIOD, &task->period) < 0)
		return refuse(result, "cannot set the period of the measuring event", -errno);
	return 0;
}

/* Adds rounds until there are `enough` or the time is over. Returns how many there are. */
static size_t add_rounds(const struct meter *meter, struct task *task, size_t enough,
			 struct calibrate_round *rounds, size_t n)
{
	const double until = cpu_time_ns() + SECONDS_MAX * NS_A_SECOND;

	/* The halves with and without the event take turns at being first. */
	for (bool without_first = false; n < enough && cpu_time_ns() < until && !stopped(task);
	     without_first = !without_first) {
		struct calibrate_round round = {0};
		struct meter_reading before = {0}, after = {0};

		if (without_first)
			round.without_ns = time_work(task->work, task->userdata, task->units);
		round.with_ns = work_metered(meter, task->work, task->userdata, task->units, &before, &after);
		if (!without_first)
			round.without_ns = time_work(task->work, task->userdata, task->units);
		if (round.with_ns < 0)
			continue;
		round.samples = (double)(after.count - before.count) / (double)task->period;
		if (round.samples >= HALF_SAMPLES_LEAST / 2) {
			rounds[n++] = round;
		} else if (task->units * 2 <= task->longest) {
			/*
			 * Make the rounds longer, and begin again: only rounds of one length can be compared
			 * with one another.
			 */
			task->units *= 2;
			n = 0;
		}
	}
	return n;
}

static void measure_dense(const struct event_spec *spec, const struct meter *meter, struct task *task,
			  struct calibrate_result *result)
{
	struct calibrate_round rounds[CALIBRATE_ROUNDS_MAX];
	size_t n;

	if (set_period(meter, task, find_period(spec, task->events * (double)task->units, task->max_rate),
		       result) < 0 ||
	    find_length(meter, task, result) < 0)
		return;
	n = add_rounds(meter, task, CALIBRATE_ROUNDS, rounds, 0);
	calibrate_judge(rounds, n, &result->dense);
	if (result->dense.known || n < CALIBRATE_ROUNDS)
		return;
	n = add_rounds(meter, task, CALIBRATE_ROUNDS_MAX, rounds, n);
	calibrate_judge(rounds, n, &result->dense);
}

/*
 * Runs through 32 KiB of code with 4,096 taken branches. This fills first level caches and branch predictors,
 * or a good part of them.
 */
static __attribute__((noinline)) void stroll(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile(".rept 4096\n\tjmp 1f\n\t.balign 8\n1:\n\t.endr" ::: "memory");
#else
	__asm__ volatile(".rept 4096\n\tb 1f\n\t.balign 8\n1:\n\t.endr" ::: "memory");
#endif
}

/* Usually makes no system call (vdso(7)), which would bring kernel code into the caches. */
static double wall_time_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * NS_A_SECOND + (double)now.tv_nsec;
}

/* The times of the last pieces without an interrupt. A new one replaces the oldest. */
struct recent {
	size_t n;
	double ns[PIECES_RECENT];
};

static double recent_median(const struct recent *recent)
{
	double sorted[PIECES_RECENT] = {0};

	for (size_t i = 0; i < PIECES_RECENT; i++) {
		size_t at = i;

		for (; at > 0 && sorted[at - 1] > recent->ns[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = recent->ns[i];
	}
	return sorted[PIECES_RECENT / 2];
}

static u64 runs_of(const struct task *task)
{
	return __atomic_load_n(task->program->runs, __ATOMIC_RELAXED);
}

/*
 * Like add_rounds(), for sparse samples. A round is a piece with a sample and the median of the pieces
 * without one just before it.
 */
static size_t add_pieces(const struct meter *meter, const struct task *task, size_t enough,
			 struct calibrate_round *rounds, size_t n)
{
	const double until = cpu_time_ns() + SECONDS_MAX * NS_A_SECOND;
	const double piece = PIECE_NS / task->unit_ns;
	const u64 units = piece < 1 ? 1 : (u64)piece;
	struct meter_reading reading;
	struct recent recent = {0};

	if ((meter_read(meter, &reading) < 0 && meter_revive(meter, &reading) < 0) ||
	    meter_control(meter, PERF_EVENT_IOC_ENABLE) < 0)
		return n;
	for (size_t pieces = 0; n < enough; pieces++) {
		double begun, took;
		u64 before;

		if (pieces % PIECES_STROLL == 0) {
			if (stopped(task) || cpu_time_ns() >= until)
				break;
			stroll();
		}
		before = runs_of(task);
		begun = wall_time_ns();
		task->work(task->userdata, units);
		took = wall_time_ns() - begun;
		if (runs_of(task) == before)
			recent.ns[recent.n++ % PIECES_RECENT] = took;
		else if (runs_of(task) == before + 1 && recent.n >= PIECES_RECENT)
			rounds[n++] = (struct calibrate_round){
				.with_ns = took, .without_ns = recent_median(&recent), .samples = 1};
	}
	(void)meter_control(meter, PERF_EVENT_IOC_DISABLE);
	return n;
}

static void measure_sparse(const struct event_spec *spec, const struct meter *meter, struct task *task,
			   struct calibrate_result *result)
{
	const double units = NS_A_SECOND / CALIBRATE_SPARSE_PER_SECOND / task->unit_ns;
	struct calibrate_round rounds[CALIBRATE_ROUNDS_MAX];
	size_t n;

	if (set_period(meter, task, fit_period(spec, task->events * units), result) < 0)
		return;
	n = add_pieces(meter, task, CALIBRATE_ROUNDS, rounds, 0);
	calibrate_judge(rounds, n, &result->sparse);
	if (!result->sparse.known && n == CALIBRATE_ROUNDS) {
		n = add_pieces(meter, task, CALIBRATE_ROUNDS_MAX, rounds, n);
		calibrate_judge(rounds, n, &result->sparse);
	}
	result->sparse.per_second = result->sparse.known ? CALIBRATE_SPARSE_PER_SECOND : 0;
}

void calibrate_measure(const struct event_spec *spec, const struct calibrate_program *program, u64 max_rate,
		       calibrate_work work, void *userdata, const bool *stop, struct calibrate_result *result)
{
	_cleanup_(meter_close) struct meter meter = {.leader_fd = -1, .fd = -1};
	struct task task = {
		.program = program, .work = work, .userdata = userdata, .max_rate = max_rate, .stop = stop};

	/* The sampling event must not stop for a calibration. */
	if (spec->only_counter) {
		(void)refuse(result, "only one counter can run the event, and pebsd is sampling with it", 0);
		return;
	}
	task.units = find_units(work, userdata);
	task.longest = task.units * LONGER_MOST;
	task.unit_ns = HALF_NS / (double)task.units;
	if (prepare(spec, &task, &meter, result) < 0)
		return;
	if (!result->dense.known)
		measure_dense(spec, &meter, &task, result);
	if (!result->dense.known)
		result->sparse = result->dense;
	else if (!result->sparse.known)
		measure_sparse(spec, &meter, &task, result);
}
