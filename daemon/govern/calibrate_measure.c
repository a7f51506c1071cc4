// SPDX-License-Identifier: GPL-2.0
#include "calibrate.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "origin/perf/perf_attr.h"

#define NS_A_SECOND 1e9

/* CPU time of the work of half a round, and samples that it is to have: a difference of a twentieth where a
 * sample takes a microsecond. */
#define HALF_NS      1e6
#define HALF_SAMPLES 50.0

/* A difference of fewer is chance. */
#define HALF_SAMPLES_LEAST 8.0

/* Of what the kernel allows. */
#define PART_OF_RATE 4.0

/* With work whose unit takes longer than was thought, or a CPU that is slow. */
#define UNITS_MAX   (1ULL << 32)
#define SECONDS_MAX 0.25

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

static int event_open(const struct perf_event_attr *attr, int group_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void meter_close(struct meter *meter)
{
	cleanup_close(&meter->fd);
	cleanup_close(&meter->leader_fd);
}

/* As the one that samples, for this thread alone, and giving way to whoever is pinned. */
static int meter_open(const struct pmu_opening *opening, u64 period, int program_fd, struct meter *ret)
{
	struct pmu_opening own = *opening;
	_cleanup_(meter_close) struct meter meter = {.leader_fd = -1, .fd = -1};
	struct perf_event_attr attr;

	own.pinned = false;
	if (own.has_leader) {
		perf_attr_leader(&own, &attr);
		meter.leader_fd = event_open(&attr, -1);
		if (meter.leader_fd < 0)
			return meter.leader_fd;
	}
	perf_attr(&own, period, &attr);
	meter.fd = event_open(&attr, meter.leader_fd);
	if (meter.fd < 0)
		return meter.fd;
	if (ioctl(meter.fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0)
		return -errno;
	*ret = meter;
	meter = (struct meter){.leader_fd = -1, .fd = -1};
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

/* Units that take about as long as half a round is to. */
static u64 find_units(calibrate_work work, void *userdata)
{
	u64 units = 1;

	for (;;) {
		double took = time_work(work, userdata, units);

		if (took >= HALF_NS / 4 || units >= UNITS_MAX) {
			double wanted = (double)units * HALF_NS / (took > 1 ? took : 1);

			return wanted < 1 ? 1 : wanted > (double)UNITS_MAX ? UNITS_MAX : (u64)wanted;
		}
		units *= 2;
	}
}

/* The work with the event on. Returns the CPU time, or a negative number where it did not count all along. */
static double work_metered(const struct meter *meter, calibrate_work work, void *userdata, u64 units,
			   struct meter_reading *before, struct meter_reading *after)
{
	double took;

	if (meter_read(meter, before) < 0 || meter_control(meter, PERF_EVENT_IOC_ENABLE) < 0)
		return -1;
	took = time_work(work, userdata, units);
	(void)meter_control(meter, PERF_EVENT_IOC_DISABLE);
	if (meter_read(meter, after) < 0 ||
	    after->running_ns - before->running_ns != after->enabled_ns - before->enabled_ns)
		return -1;
	return took;
}

/* A period with which half a round has its samples; 0: the work makes too few events, or the kernel allows
 * too few samples. */
static u64 find_period(const struct pmu_opening *opening, double events, double took_ns, u64 max_rate)
{
	const u64 step = opening->period_step ? opening->period_step : 1;
	const double allowed =
		max_rate ? (double)max_rate / PART_OF_RATE * took_ns / NS_A_SECOND : HALF_SAMPLES;
	const double samples = allowed < HALF_SAMPLES ? allowed : HALF_SAMPLES;
	u64 period;

	if (samples < HALF_SAMPLES_LEAST || events < samples)
		return 0;
	period = ((u64)(events / samples) + step - 1) / step * step;
	if (period < opening->period_min)
		period = (opening->period_min + step - 1) / step * step;
	return events / (double)period >= HALF_SAMPLES_LEAST ? period : 0;
}

static int refuse(struct calibrate_result *ret, const char *what, int error)
{
	*ret = (struct calibrate_result){0};
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s%s%s", what, error ? ": " : "",
		       error ? strerror(-error) : "");
	return -1;
}

/* Opens the event with a period that fits the work. */
static int prepare(const struct pmu_opening *opening, int program_fd, u64 max_rate, calibrate_work work,
		   void *userdata, u64 units, struct meter *meter, u64 *ret_period,
		   struct calibrate_result *ret)
{
	struct meter_reading before, after;
	double took;
	int r;

	/* To begin with, one that makes no samples to speak of: the work's events are counted. */
	r = meter_open(opening, INT32_MAX / 16 * 16, program_fd, meter);
	if (r < 0)
		return refuse(ret, "an event of this thread cannot be opened", r);
	took = work_metered(meter, work, userdata, units, &before, &after);
	if (took < 0)
		return refuse(ret, "another event holds the counter", 0);
	*ret_period = find_period(opening, (double)(after.count - before.count), took, max_rate);
	if (*ret_period == 0)
		return refuse(ret, "its work makes too few samples, or the kernel allows too few", 0);
	if (ioctl(meter->fd, PERF_EVENT_IOC_PERIOD, ret_period) < 0)
		return refuse(ret, "the period cannot be set", -errno);
	return 0;
}

static void measure(const struct meter *meter, u64 period, calibrate_work work, void *userdata, u64 units,
		    const bool *stop, struct calibrate_result *ret)
{
	const double until = cpu_time_ns() + SECONDS_MAX * NS_A_SECOND;
	struct calibrate_round rounds[CALIBRATE_ROUNDS];
	size_t n = 0;

	for (unsigned i = 0; i < CALIBRATE_ROUNDS && cpu_time_ns() < until; i++) {
		struct calibrate_round round = {0};
		struct meter_reading before, after;

		if (__atomic_load_n(stop, __ATOMIC_RELAXED))
			break;
		/* Either is first in every other round. */
		if (i % 2)
			round.without_ns = time_work(work, userdata, units);
		round.with_ns = work_metered(meter, work, userdata, units, &before, &after);
		if (i % 2 == 0)
			round.without_ns = time_work(work, userdata, units);
		if (round.with_ns < 0)
			continue;
		round.samples = (double)(after.count - before.count) / (double)period;
		if (round.samples >= HALF_SAMPLES_LEAST / 2)
			rounds[n++] = round;
	}
	calibrate_judge(rounds, n, ret);
}

void calibrate_measure(const struct pmu_opening *opening, int program_fd, u64 max_rate, calibrate_work work,
		       void *userdata, const bool *stop, struct calibrate_result *ret)
{
	_cleanup_(meter_close) struct meter meter = {.leader_fd = -1, .fd = -1};
	u64 units, period;

	*ret = (struct calibrate_result){0};
	/* Ours samples with it, and is not to stand still for this. */
	if (opening->only_counter) {
		(void)refuse(ret, "one counter alone can hold the event, and it is in use", 0);
		return;
	}
	units = find_units(work, userdata);
	if (prepare(opening, program_fd, max_rate, work, userdata, units, &meter, &period, ret) == 0)
		measure(&meter, period, work, userdata, units, stop, ret);
}
