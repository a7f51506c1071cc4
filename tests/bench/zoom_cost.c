// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of a zoom, in one run. A task works in its own cgroup, some frames deep, in three kinds of
 * turns: without an event, with one that only interrupts it 1,000 times per second of its CPU time, and with a
 * zoom that takes a sample each time. The CPU time of the daemon's part (draining, parsing, recording) is
 * printed, too. The events use cpu-clock. The cost of this timer, which is high in a virtual machine, is part
 * of the second and the third kind. The cost of PEBS and its interrupts is in none of the three. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup/mount.h"
#include "clock.h"
#include "zoom/zoom_events.h"
#include "zoom/zoom_recording.h"
#include "zoom/zoom_source.h"

#define DEPTH     30
#define TURNS     60
#define TURN_NS   (200 * NSEC_PER_MSEC) /* the daemon's time from one drain to the next */
#define RATE      1000
#define PERIOD_NS 1000000
#define TASK_CPU  1
#define OWN_CPU   0

/* The task's progress, in memory shared with the parent. */
struct progress {
	volatile u64 rounds;
	volatile u64 cpu_ns; /* CPU time of the task, updated every 64 rounds */
	volatile bool over;
};

static void stay_on(unsigned cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
}

/* Recurses some frames deep. NOLINTNEXTLINE(misc-no-recursion) */
static __attribute__((noinline)) void work(struct progress *progress, unsigned depth)
{
	if (depth > 0) {
		work(progress, depth - 1);
		__asm__ volatile("" ::: "memory");
		return;
	}
	while (!progress->over) {
		u64 value = 1;

		for (unsigned i = 0; i < 1000; i++)
			__asm__ volatile("" : "+r"(value));
		progress->rounds = progress->rounds + 1;
		if (progress->rounds % 64 == 0)
			progress->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	}
}

static pid_t start_task(const char *cgroup, struct progress *progress)
{
	_cleanup_free_ char *procs = NULL;
	_cleanup_fclose_ FILE *file = NULL;
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		stay_on(TASK_CPU);
		work(progress, DEPTH);
		_exit(0);
	}
	if (pid < 0 || asprintf(&procs, "%s/cgroup.procs", cgroup) < 0)
		return -1;
	file = fopen(procs, "we");
	if (!file || fprintf(file, "%d\n", pid) < 0 || fflush(file) != 0)
		progress->over = true;
	return pid;
}

static int keep(void *userdata, const struct zoom_record *record)
{
	return zoom_recording_add(userdata, record);
}

/* Sums over all turns of one kind, and the pace of each turn. */
struct turns {
	u64 task_ns;
	u64 own_ns; /* CPU time of this process, without opening and closing events */
	u64 wall_ns;
	size_t n;
	double paces[TURNS]; /* rounds per nanosecond of the task's CPU time */
};

static void turn(struct zoom_source *events, struct zoom_recording *recording,
		 const struct progress *progress, struct turns *turns)
{
	const struct timespec wait = {.tv_nsec = (long)TURN_NS};
	const u64 rounds = progress->rounds, task_ns = progress->cpu_ns;
	const u64 own = clock_ns(CLOCK_PROCESS_CPUTIME_ID), begin = clock_ns(CLOCK_MONOTONIC);
	u64 worked_ns;

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
	if (events)
		(void)events->methods->drain(events, keep, recording);
	worked_ns = progress->cpu_ns - task_ns;
	if (worked_ns > 0)
		turns->paces[turns->n++] = (double)(progress->rounds - rounds) / (double)worked_ns;
	turns->task_ns += worked_ns;
	turns->own_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
	turns->wall_ns += clock_ns(CLOCK_MONOTONIC) - begin;
}

static int compare_paces(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Returns the median, because other work on this machine slows single turns. */
static double pace_of(struct turns *turns)
{
	qsort(turns->paces, turns->n, sizeof(*turns->paces), compare_paces);
	return turns->n ? turns->paces[turns->n / 2] : 0;
}

static struct zoom_source *open_zoom(const char *cgroup)
{
	const struct event_spec spec = {
		.event = {.role = EVENT_LOADS, .period = PERIOD_NS},
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};
	_cleanup_close_ int fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *message = NULL;
	struct zoom_source *events = NULL;
	const struct zoom_events_settings settings = {
		.cgroup_fd = fd, .specs = &spec, .n_specs = 1, .rate = RATE, .physical = true};

	if (fd < 0 || zoom_events_open(&settings, &events, &message) < 0)
		(void)fprintf(stderr, "cannot open the zoom: %s\n", message ? message : strerror(errno));
	return events;
}

/* Opens an event that causes the same interrupts of the same cgroup but writes no samples. */
static int open_interrupts(const char *cgroup)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
	};
	_cleanup_close_ int directory = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return (int)syscall(SYS_perf_event_open, &attr, directory, TASK_CPU, -1,
			    PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
}

static void report(struct turns *without, struct turns *interrupted, struct turns *zoomed, u64 seen,
		   const struct zoom_recording *recording)
{
	const double task_seconds = (double)zoomed->task_ns / 1e9;
	const double samples = (double)zoom_recording_samples(recording);

	(void)printf("%.1f s of each kind, in turns; the task had %.0f %%, %.0f %% and %.0f %% of its CPU\n",
		     (double)zoomed->wall_ns / 1e9,
		     100.0 * (double)without->task_ns / (double)without->wall_ns,
		     100.0 * (double)interrupted->task_ns / (double)interrupted->wall_ns,
		     100.0 * (double)zoomed->task_ns / (double)zoomed->wall_ns);
	(void)printf(
		"samples in a second of the task's CPU time: %.0f seen, %.0f recorded, %.1f bytes each\n",
		(double)seen / task_seconds, samples / task_seconds,
		(double)zoom_recording_bytes(recording) / samples);
	(void)printf("the daemon: %.2f us a sample; %.3f %% of a core, %.3f %% without a zoom\n",
		     ((double)zoomed->own_ns - (double)without->own_ns) / 1e3 / samples,
		     100.0 * (double)zoomed->own_ns / (double)zoomed->wall_ns,
		     100.0 * (double)without->own_ns / (double)without->wall_ns);
	(void)printf(
		"the task does less in a second of its CPU time: by %.2f %% with interrupts alone, by a further %.2f %% with a zoom\n",
		100.0 * (1 - pace_of(interrupted) / pace_of(without)),
		100.0 * (1 - pace_of(zoomed) / pace_of(interrupted)));
}

static int run(const char *cgroup, const struct progress *progress)
{
	const struct zoom_about about = {.cgroup = (char *)"/bench"};
	_cleanup_(zoom_recording_freep) struct zoom_recording *recording = NULL;
	static struct turns without, interrupted, zoomed;
	struct zoom_counts counts;
	u64 seen = 0;

	if (zoom_recording_new(&about, 32 << 20, &recording) < 0)
		return 1;
	for (unsigned i = 0; i < TURNS; i++) {
		_cleanup_(zoom_events_freep) struct zoom_source *events = NULL;
		int fd;

		turn(NULL, NULL, progress, &without);
		fd = open_interrupts(cgroup);
		if (fd < 0)
			return 1;
		turn(NULL, NULL, progress, &interrupted);
		(void)close(fd);
		events = open_zoom(cgroup);
		if (!events)
			return 1;
		turn(events, recording, progress, &zoomed);
		events->methods->counts(events, &counts);
		seen += counts.seen;
	}
	report(&without, &interrupted, &zoomed, seen, recording);
	return 0;
}

int main(void)
{
	struct progress *progress =
		mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	_cleanup_free_ char *mount = NULL, *cgroup = NULL;
	bool subtree;
	pid_t pid;
	int r = 1;

	if (progress == MAP_FAILED || cgroup_mount_find(&mount, &subtree) < 0 ||
	    asprintf(&cgroup, "%s/pebsd-bench-%d", mount, getpid()) < 0 || mkdir(cgroup, 0755) < 0) {
		(void)fprintf(stderr, "no cgroup2 mount to work in: %s\n", strerror(errno));
		return 1;
	}
	stay_on(OWN_CPU);
	pid = start_task(cgroup, progress);
	if (pid > 0) {
		r = progress->over ? 1 : run(cgroup, progress);
		progress->over = true;
		(void)waitpid(pid, NULL, 0);
	}
	(void)rmdir(cgroup);
	return r;
}
