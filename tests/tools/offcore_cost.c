// SPDX-License-Identifier: GPL-2.0
/*
 * offcore_cost [ROUNDS]: measures what counting off-core responses adds to a task switch, and prints it as
 * JSON. Two processes on one CPU pass a byte back and forth through pipes, in one cgroup and in two. Each
 * round runs without and with the counting, so that both see the same state of the machine. The minimum of
 * all rounds is printed. Run it as root.
 *
 * The counters are software events, which any machine has. A read of a hardware counter takes one RDPMC more
 * per counter (some 20 to 40 ns on current processors, by their manuals; not measured here).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "cgroup/mount.h"
#include "collect/adopt.h"
#include "kernel/kernel.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_offcore.h"

#define HANDOVERS  2000
#define ROUNDS     41
#define ROUNDS_MAX 1001

/* Measure without counting, and with these numbers of counters. */
static const size_t counter_counts[] = {0, 2, 3, 5};

#define MODES ARRAY_SIZE(counter_counts)

static const char *mount_path;

static void die(const char *what)
{
	(void)fprintf(stderr, "offcore_cost: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000ULL + (u64)now.tv_nsec;
}

static void stay_on_cpu_0(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		die("cannot stay on CPU 0");
}

static void make_cgroup(const char *name)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", mount_path, name) < 0)
		die("out of memory");
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		die(path);
}

static void remove_cgroup(const char *name)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", mount_path, name) >= 0)
		(void)rmdir(path);
}

static void enter_cgroup(const char *name)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_fclose_ FILE *file = NULL;

	if (asprintf(&path, "%s/%s/cgroup.procs", mount_path, name) < 0)
		die("out of memory");
	file = fopen(path, "we");
	if (!file || fprintf(file, "%d\n", getpid()) < 0 || fflush(file) != 0)
		die(path);
}

/* Returns the time that the scheduler accounts to one process alone, including the switches to it. */
static u64 spent_ns(pid_t pid)
{
	struct timespec spent;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &spent) < 0)
		die("cannot read a process's time");
	return (u64)spent.tv_sec * 1000000000ULL + (u64)spent.tv_nsec;
}

/* Sends back each byte until the other end closes. */
static pid_t start_echo(const char *cgroup, int in_fd, int out_fd, int close_fd)
{
	pid_t pid = fork();
	char byte;

	if (pid < 0)
		die("cannot fork");
	if (pid > 0)
		return pid;
	(void)close(close_fd);
	enter_cgroup(cgroup);
	while (read(in_fd, &byte, 1) == 1)
		if (write(out_fd, &byte, 1) != 1)
			break;
	_exit(0);
}

/*
 * Returns nanoseconds per switch, of the time of both processes: each byte that goes there and back takes two
 * switches.
 */
static double play(const char *mine, const char *theirs)
{
	int there[2], back[2];
	char byte = 'x';
	u64 begun;
	pid_t pid;

	if (pipe(there) < 0 || pipe(back) < 0)
		die("cannot make a pipe");
	enter_cgroup(mine);
	pid = start_echo(theirs, there[0], back[1], there[1]);
	begun = 0;
	for (int i = -HANDOVERS / 10; i < HANDOVERS; i++) {
		if (i == 0)
			begun = spent_ns(0) + spent_ns(pid);
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			die("the other process is gone");
	}
	begun = spent_ns(0) + spent_ns(pid) - begun;
	(void)close(there[1]);
	(void)waitpid(pid, NULL, 0);
	(void)close(there[0]);
	(void)close(back[0]);
	(void)close(back[1]);
	return (double)begun / (2.0 * HANDOVERS);
}

struct counting {
	struct kernel *kernel;
	struct offcore_set *set;
};

static void counting_open(size_t n, struct counting *ret)
{
	struct pmu_counter counters[OFFCORE_KINDS] = {0};
	struct stripes stripes;
	struct kernel_settings settings = {.slots = 512, .stripes = &stripes, .births = true};
	struct adopt_counts adopted;
	char *message = NULL;
	int r;

	*ret = (struct counting){0};
	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		counters[i] = (struct pmu_counter){
			.kind = (enum offcore_kind)i,
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_PAGE_FAULTS,
		};
		(void)snprintf(counters[i].pmu, sizeof(counters[i].pmu), "software");
	}
	r = offcore_open(counters, n, PERF_ONLINE_PATH, &ret->set, &message);
	if (r == 0) {
		settings.offcore_cpus = offcore_cpus(ret->set);
		r = stripes_single(&stripes);
	}
	if (r == 0) {
		r = kernel_open(&settings, &ret->kernel, &message);
		stripes_done(&stripes);
	}
	if (r == 0)
		r = adopt_existing(ret->kernel, mount_path, &adopted);
	if (r == 0)
		r = offcore_start(ret->set, kernel_offcore(ret->kernel), NULL, &message);
	if (r < 0) {
		(void)fprintf(stderr, "offcore_cost: %s\n", message ? message : strerror(-r));
		exit(EXIT_FAILURE);
	}
}

/* Returns the nanoseconds that the BPF programs measured themselves; 0 if they measured nothing. */
static double counting_close(struct counting *counting)
{
	double timed = 0;

	if (counting->kernel) {
		const struct offcore_cpu *state = kernel_offcore_cpu(kernel_offcore(counting->kernel), 0);

		timed = state->timed ? (double)state->timed_ns / (double)state->timed : 0;
	}
	offcore_free(counting->set);
	kernel_free(counting->kernel);
	return timed;
}

/* Returns the minimum: other processes disturb some rounds, but the cost of the switch is part of every round. */
static double least(const double *values, size_t n)
{
	double ret = values[0];

	for (size_t i = 1; i < n; i++)
		if (values[i] < ret)
			ret = values[i];
	return ret;
}

/* Returns the time that one collection takes per CPU: the interrupt, measured on the requesting side. */
static double collection_ns(void)
{
	struct counting counting;
	u64 begun;

	counting_open(3, &counting);
	begun = now_ns();
	for (int i = 0; i < 1000; i++)
		offcore_collect(counting.set);
	begun = now_ns() - begun;
	counting_close(&counting);
	return (double)begun / 1000 / (double)sysconf(_SC_NPROCESSORS_ONLN);
}

int main(int argc, char **argv)
{
	static double same[MODES][ROUNDS_MAX], other[MODES][ROUNDS_MAX], timed[MODES][ROUNDS_MAX];
	char names[2][64];
	u64 rounds = ROUNDS;
	char *mount;
	bool subtree;

	if (argc > 2 || (argc == 2 && number_parse(argv[1], 1, ROUNDS_MAX, &rounds) < 0)) {
		(void)fprintf(stderr, "usage: offcore_cost [ROUNDS, up to %d]\n", ROUNDS_MAX);
		return 2;
	}
	if (cgroup_mount_find(&mount, &subtree) < 0)
		die("no cgroup2 mount");
	mount_path = mount;
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "pebsd-offcore-cost-%d-%zu", getpid(), i);
		make_cgroup(names[i]);
	}
	stay_on_cpu_0();
	for (u64 round = 0; round < rounds; round++)
		for (size_t mode = 0; mode < MODES; mode++) {
			struct counting counting;

			counting_open(counter_counts[mode], &counting);
			same[mode][round] = play(names[0], names[0]);
			other[mode][round] = play(names[0], names[1]);
			timed[mode][round] = counting_close(&counting);
		}
	for (size_t mode = 0; mode < MODES; mode++) {
		double same_ns = least(same[mode], rounds), other_ns = least(other[mode], rounds);

		printf("{\"counters\": %zu, \"same_cgroup_ns\": %.0f, \"other_cgroup_ns\": %.0f",
		       counter_counts[mode], same_ns, other_ns);
		if (mode)
			printf(", \"same_ratio\": %.3f, \"other_ratio\": %.3f, \"same_added_ns\": %.0f, "
			       "\"other_added_ns\": %.0f, \"reading_ns\": %.0f",
			       same_ns / least(same[0], rounds), other_ns / least(other[0], rounds),
			       same_ns - least(same[0], rounds), other_ns - least(other[0], rounds),
			       least(timed[mode], rounds));
		printf("}\n");
	}
	printf("{\"collection_ns_a_cpu\": %.0f}\n", collection_ns());
	enter_cgroup("");
	for (size_t i = 0; i < 2; i++)
		remove_cgroup(names[i]);
	free(mount);
	return 0;
}
