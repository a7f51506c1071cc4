// SPDX-License-Identifier: GPL-2.0
#include "calibrate.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "origin/perf/perf_attr.h"
#include "origin/perf/perf_door.h"

#define NS_A_SECOND 1e9

/* CPU time of the work of half a round, and samples that it is to have: a difference of a twentieth where a
 * sample takes a microsecond. */
#define HALF_NS      1e6
#define HALF_SAMPLES 50.0

/* A difference of fewer is chance: then half a round is longer, up to so many times. */
#define HALF_SAMPLES_LEAST 4.0
#define LONGER_MOST        64

/* Of what the kernel allows. */
#define PART_OF_RATE 4.0

/* How many events make the count per unit of work certain enough, and after how many halves of a round the
 * count ends without them. */
#define COUNT_EVENTS 20000
#define COUNT_HALVES 32

/* A counter may be taken for a moment only: the number of tries, and the time between them. */
#define TRIES    8
#define TRIES_NS 2000000

/* The number of timings, of which the shortest counts: an interruption can only lengthen one. */
#define TIMINGS 3

/* With work whose unit takes longer than was thought, or a CPU that is slow, as an emulated one. */
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

/* As the one that samples, for this thread alone. Pinned: see the header. */
static int meter_open(const struct pmu_opening *opening, u64 period, int program_fd, struct meter *ret)
{
	struct pmu_opening own = *opening;
	_cleanup_(meter_close) struct meter meter = {.leader_fd = -1, .fd = -1};
	struct perf_event_attr attr;

	own.pinned = true;
	if (own.has_leader) {
		perf_attr_leader(&own, &attr);
		meter.leader_fd = perf_door_thread(&attr, -1);
		if (meter.leader_fd < 0)
			return meter.leader_fd;
	}
	perf_attr(&own, period, &attr);
	meter.fd = perf_door_thread(&attr, meter.leader_fd);
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

/* Units that take about as long as half a round is to. */
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

/* A pinned event that found no counter is in error, and cannot be read, until it is enabled again. */
static int meter_revive(const struct meter *meter, struct meter_reading *ret)
{
	if (meter_control(meter, PERF_EVENT_IOC_ENABLE) < 0 ||
	    meter_control(meter, PERF_EVENT_IOC_DISABLE) < 0)
		return -EIO;
	return meter_read(meter, ret);
}

/* The work with the event on. Returns the CPU time, or a negative number if it did not count all along. */
static double work_metered(const struct meter *meter, calibrate_work work, void *userdata, u64 units,
			   struct meter_reading *before, struct meter_reading *after)
{
	double took;

	if ((meter_read(meter, before) < 0 && meter_revive(meter, before) < 0) ||
	    meter_control(meter, PERF_EVENT_IOC_ENABLE) < 0)
		return -1;
	took = time_work(work, userdata, units);
	(void)meter_control(meter, PERF_EVENT_IOC_DISABLE);
	/* While a leader is in error no time passes for its group. */
	if (meter_read(meter, after) < 0 || after->enabled_ns == before->enabled_ns ||
	    after->running_ns - before->running_ns != after->enabled_ns - before->enabled_ns)
		return -1;
	return took;
}

static int refuse(struct calibrate_result *ret, const char *what, int error)
{
	*ret = (struct calibrate_result){0};
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s%s%s", what, error ? ": " : "",
		       error ? strerror(-error) : "");
	return -1;
}

struct task {
	calibrate_work work;
	void *userdata;
	u64 units; /* of half a round */
	u64 max_rate;
	u64 period;
	const bool *stop;
};

static bool stopped(const struct task *task)
{
	return __atomic_load_n(task->stop, __ATOMIC_RELAXED);
}

/* The same, several times if the counter is taken. */
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

static int refuse_counter(struct calibrate_result *ret)
{
	return refuse(ret,
		      "no counter is left for a moment's timing: pinned events hold all that can take it, "
		      "pebsd's own, and perhaps the NMI watchdog's or another profiler's",
		      0);
}

/* Events a unit of the work; negative if they cannot be counted. No time goes into it: what interrupts the
 * work does not change how many events it makes. */
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

/* A period with which half a round has its samples, or as many as the kernel allows. */
static u64 find_period(const struct pmu_opening *opening, double half_events, u64 max_rate)
{
	const u64 step = opening->period_step ? opening->period_step : 1;
	const double allowed =
		max_rate ? (double)max_rate / PART_OF_RATE * HALF_NS / NS_A_SECOND : HALF_SAMPLES;
	const double period = half_events / (allowed < HALF_SAMPLES ? allowed : HALF_SAMPLES);
	const double least = opening->period_min > 1 ? opening->period_min : 1;

	return ((u64)(period > least ? period : least) + step - 1) / step * step;
}

/* Has half a round be long enough. 0, or -1 with the reason why it cannot. */
static int find_length(const struct meter *meter, struct task *task, struct calibrate_result *ret)
{
	double took = 0, samples = 0;

	for (int longer = 1; longer <= LONGER_MOST && !stopped(task); longer *= 2) {
		struct meter_reading before = {0}, after = {0};

		took = try_metered(meter, task, task->units, &before, &after);
		if (took < 0)
			return refuse_counter(ret);
		samples = (double)(after.count - before.count) / (double)task->period;
		if (samples >= HALF_SAMPLES_LEAST)
			return 0;
		task->units *= 2;
	}
	(void)refuse(ret, "", 0);
	(void)snprintf(ret->reason, sizeof(ret->reason),
		       "the work that is timed makes too few samples: %.1f in %.1f ms with a period of %llu",
		       samples, took / 1e6, (unsigned long long)task->period);
	return -1;
}

/* Opens the event with a period that fits the work. */
static int prepare(const struct pmu_opening *opening, int program_fd, struct task *task, struct meter *meter,
		   struct calibrate_result *ret)
{
	double rate;
	int r;

	if (task->max_rate &&
	    (double)task->max_rate / PART_OF_RATE * HALF_NS * LONGER_MOST / NS_A_SECOND < HALF_SAMPLES_LEAST)
		return refuse(ret, "kernel.perf_event_max_sample_rate allows too few samples", 0);
	/* To begin with, one that makes no samples to speak of: the work's events are counted. */
	r = meter_open(opening, INT32_MAX / 64 * 64, program_fd, meter);
	if (r < 0)
		return refuse(ret, "an event of this thread cannot be opened", r);
	rate = find_rate(meter, task);
	if (rate < 0)
		return refuse_counter(ret);
	task->period = find_period(opening, rate * (double)task->units, task->max_rate);
	if (ioctl(meter->fd, PERF_EVENT_IOC_PERIOD, &task->period) < 0)
		return refuse(ret, "the period cannot be set", -errno);
	return find_length(meter, task, ret);
}

/* Adds rounds until there are `enough`, or time is up. Returns how many there are. */
static size_t add_rounds(const struct meter *meter, struct task *task, size_t enough,
			 struct calibrate_round *rounds, size_t n)
{
	const double until = cpu_time_ns() + SECONDS_MAX * NS_A_SECOND;
	const u64 longest = task->units * LONGER_MOST;

	/* Either is first in every other round. */
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
		} else if (task->units < longest) {
			/* Rounds are held against one another: those before were shorter. */
			task->units *= 2;
			n = 0;
		}
	}
	return n;
}

static void measure(const struct meter *meter, struct task *task, struct calibrate_result *ret)
{
	struct calibrate_round rounds[CALIBRATE_ROUNDS_MAX];
	size_t n = add_rounds(meter, task, CALIBRATE_ROUNDS, rounds, 0);

	calibrate_judge(rounds, n, ret);
	if (ret->known || n < CALIBRATE_ROUNDS)
		return;
	n = add_rounds(meter, task, CALIBRATE_ROUNDS_MAX, rounds, n);
	calibrate_judge(rounds, n, ret);
}

void calibrate_measure(const struct pmu_opening *opening, int program_fd, u64 max_rate, calibrate_work work,
		       void *userdata, const bool *stop, struct calibrate_result *ret)
{
	_cleanup_(meter_close) struct meter meter = {.leader_fd = -1, .fd = -1};
	struct task task = {.work = work, .userdata = userdata, .max_rate = max_rate, .stop = stop};

	*ret = (struct calibrate_result){0};
	/* Ours samples with it, and is not to stand still for this. */
	if (opening->only_counter) {
		(void)refuse(ret,
			     "one counter alone can hold the event, and it is in use: pebsd samples with it",
			     0);
		return;
	}
	task.units = find_units(work, userdata);
	if (prepare(opening, program_fd, &task, &meter, ret) == 0)
		measure(&meter, &task, ret);
}
