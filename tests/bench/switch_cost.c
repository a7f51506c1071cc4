// SPDX-License-Identifier: GPL-2.0
/*
 * switch_cost [LOOPS]: measures whether events as pebsd opens them make a context switch slower. Prints one
 * round, as lines for bench_report. Needs root.
 *
 * Two threads on one CPU wake each other through pipes: two switches for each message to and fro. Loops take
 * turns without events and with four events on each CPU. Loops with four events of each thread follow. pebsd's program
 * for a count is attached to all of them, and they are enabled. They are events of page faults, which do not occur in
 * the loop: a sample has a cost of its own (events_cost), and here only the switch is measured, in the CPU time
 * of the process.
 *
 * Linux calls perf at a switch only if an event needs that: one of a task, of a cgroup, with branch records, or
 * with a PMU that wants to know (account_event() and perf_sched_events, kernel/events/core.c, Linux 6.12).
 * pebsd's are none of these. The events of threads show that this benchmark sees the cost of a switch that does
 * call perf. Hardware events are absent on a machine without a PMU; they go through the same code.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/number.h"
#include "bench_line.h"
#include "bench_pebsd.h"
#include "bench_victim.h"
#include "clock.h"

#define MESSAGES  20000 /* in a loop; each is two switches */
#define LOOPS     11
#define LOOPS_MAX 100
#define EVENTS    4 /* cycles, instructions, stalls, misses */
#define CPUS_MAX  512

enum mode { WITHOUT, OF_CPUS, OF_THREADS, MODES };

struct pair {
	int there[2];
	int back[2];
	enum mode mode;
	int program_fd;
};

static void die(const char *what, int error)
{
	(void)fprintf(stderr, "switch_cost: %s: %s\n", what, strerror(error));
	exit(EXIT_FAILURE);
}

static void open_of_thread(const struct pair *pair, int fds[EVENTS])
{
	for (int i = 0; i < EVENTS; i++) {
		fds[i] = -1;
		if (pair->mode != OF_THREADS)
			continue;
		fds[i] = victim_event_open_own(pair->program_fd);
		if (fds[i] < 0 || victim_event_switch(fds[i], true) < 0)
			die("cannot open an event of a thread", fds[i] < 0 ? -fds[i] : EIO);
	}
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
}

static void pass(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		die("a pipe ended", EPIPE);
}

static void *answer(void *userdata)
{
	const struct pair *pair = userdata;
	int fds[EVENTS];

	if (victim_pin(VICTIM_CPU) < 0)
		die("cannot be pinned to a CPU", EINVAL);
	open_of_thread(pair, fds);
	for (int i = 0; i < MESSAGES + 1; i++)
		pass(pair->there[0], pair->back[1]);
	close_all(fds, EVENTS);
	return NULL;
}

/* Returns the CPU time in nanoseconds per switch. */
static double loop(enum mode mode, int program_fd)
{
	struct pair pair = {.mode = mode, .program_fd = program_fd};
	int fds[EVENTS], r;
	pthread_t thread;
	char byte = 0;
	u64 begun, ended;

	if (pipe(pair.there) < 0 || pipe(pair.back) < 0)
		die("no pipe", errno);
	r = pthread_create(&thread, NULL, answer, &pair);
	if (r != 0)
		die("cannot start a thread", r);
	open_of_thread(&pair, fds);
	/* The first answer shows that the other thread is ready. */
	if (write(pair.there[1], &byte, 1) != 1 || read(pair.back[0], &byte, 1) != 1)
		die("a pipe ended", EPIPE);
	begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (write(pair.there[1], &byte, 1) != 1)
		die("a pipe ended", EPIPE);
	for (int i = 1; i < MESSAGES; i++)
		pass(pair.back[0], pair.there[1]);
	if (read(pair.back[0], &byte, 1) != 1)
		die("a pipe ended", EPIPE);
	ended = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	(void)pthread_join(thread, NULL);
	close_all(fds, EVENTS);
	close_all(pair.there, 2);
	close_all(pair.back, 2);
	return (double)(ended - begun) / (2.0 * MESSAGES);
}

static void switch_all(const int *fds, size_t n, bool on)
{
	for (size_t i = 0; i < n; i++)
		if (victim_event_switch(fds[i], on) < 0)
			die("cannot switch an event", EIO);
}

static size_t open_on_cpus(int program_fd, int *fds)
{
	size_t n = 0;

	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN) && cpu < CPUS_MAX; cpu++)
		for (int i = 0; i < EVENTS; i++) {
			fds[n] = victim_event_open((unsigned)cpu, program_fd);
			if (fds[n] < 0)
				die("cannot open an event of a CPU", -fds[n]);
			n++;
		}
	return n;
}

int main(int argc, char **argv)
{
	static double ns[MODES][LOOPS_MAX], ratio[MODES][LOOPS_MAX];
	static int fds[CPUS_MAX * EVENTS];
	_cleanup_(stripes_done) struct stripes stripes = {0};
	struct kernel *kernel;
	u64 loops = LOOPS;
	int program_fd, r;
	size_t n;

	if (argc > 2 || (argc > 1 && number_parse(argv[1], 1, LOOPS_MAX, &loops) < 0)) {
		(void)fprintf(stderr, "usage: switch_cost [LOOPS, up to %d]\n", LOOPS_MAX);
		return 2;
	}
	(void)libbpf_set_print(NULL);
	r = stripes_of_machine(NULL, (u32)libbpf_num_possible_cpus(), &stripes);
	if (r < 0 || (r = victim_pin(VICTIM_CPU)) < 0)
		die("cannot be pinned to a CPU", -r);
	kernel = bench_pebsd_open("switch_cost", &stripes);
	program_fd = kernel_program_fd(kernel, BENCH_PEBSD_COUNT);
	(void)loop(WITHOUT, program_fd); /* warms up */
	for (u64 i = 0; i < loops; i++)
		/* The order changes, so that neither mode is always first. */
		for (unsigned turn = 0; turn < 2; turn++) {
			enum mode mode = (i + turn) % 2 ? OF_CPUS : WITHOUT;

			n = mode == OF_CPUS ? open_on_cpus(program_fd, fds) : 0;
			switch_all(fds, n, true);
			ns[mode][i] = loop(mode, program_fd);
			switch_all(fds, n, false);
			close_all(fds, n);
		}
	/* Last: for a second after such events are closed, the kernel still calls perf at each switch. */
	for (u64 i = 0; i < loops; i++) {
		ns[OF_THREADS][i] = loop(OF_THREADS, program_fd);
		for (unsigned mode = OF_CPUS; mode < MODES; mode++)
			ratio[mode][i] = ns[mode][i] / ns[WITHOUT][i];
	}
	bench_line_better("switch", "without events, whole", "ns", victim_median(ns[WITHOUT], loops),
			  BENCH_NEITHER);
	bench_line("switch", "four events of pebsd on each CPU, over none", "ratio",
		   victim_median(ratio[OF_CPUS], loops));
	bench_line_better("switch", "four events of each thread, over none", "ratio",
			  victim_median(ratio[OF_THREADS], loops), BENCH_NEITHER);
	kernel_free(kernel);
	return 0;
}
