// SPDX-License-Identifier: GPL-2.0
/*
 * sparse_sample [ROUNDS]: measures what a sample costs if samples are dense, and if they are sparse. Prints the table
 * of tests/bench/README.md. Needs root, and takes some eight seconds a round.
 *
 *   dense    some 1,000 samples per millisecond, one after the other: code and data stay in the caches
 *   sparse   one sample at a time, at least 10 ms after the last one; other code and 4 MiB of other memory go through
 *            the caches in between, as in the calibration (govern/calibrate.c): more than most second level caches
 *   cold     the same with 64 MiB, more than most last level caches
 *
 * Samples are page faults of this thread, with the synthetic latency and data source of events_cost. The
 * programs are the same for all kinds. The kernel times the runs of a program. The cost to the victim is the time of a
 * page fault with the event, minus that without it; programs are not timed then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/monotonic.h"
#include "base/number.h"
#include "bench_pebsd.h"
#include "bench_spread.h"
#include "bench_text.h"
#include "bench_victim.h"
#include "peers/peers.h"

/* Uses the types above. */
#include "peers.skel.h"

#define ROUNDS     7
#define ROUNDS_MAX 101

#define PAGE        4096UL
#define DENSE_PAGES 8192 /* in a loop */
#define DENSE_LOOPS 15

#define SPARSE_SAMPLES 60
#define SPARSE_NS      (10 * NSEC_PER_MSEC)

enum row { EMPTY, PEBSD, VICTIM, ROWS };

static const char *const row_names[ROWS] = {
	[EMPTY] = "an empty program, with the kernel's own timing",
	[PEBSD] = "pebsd's program, with the same",
	[VICTIM] = "what pebsd costs the sampled program",
};

enum kind { DENSE, SPARSE, COLD, KINDS };

/* The other memory that goes through the caches between two samples. */
static const size_t other_bytes[KINDS] = {[SPARSE] = (size_t)4 << 20, [COLD] = (size_t)64 << 20};

struct program {
	int fd;
	int event_fd; /* disabled */
};

static u8 *other_memory;

static void die(const char *what, int error)
{
	(void)fprintf(stderr, "sparse_sample: %s: %s\n", what, strerror(error));
	exit(EXIT_FAILURE);
}

/* Runs through 32 KiB of code with 4,096 taken branches, like the calibration (govern/calibrate_measure.c). */
static __attribute__((noinline)) void other_code(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile(".rept 4096\n\tjmp 1f\n\t.balign 8\n1:\n\t.endr" ::: "memory");
#endif
}

/* Does other work until SPARSE_NS have passed, at least once through `bytes` of memory. */
static void other_work(size_t bytes)
{
	u64 begun = monotonic_ns();

	do {
		for (size_t i = 0; i < bytes; i += 64)
			other_memory[i]++;
		other_code();
	} while (monotonic_ns() - begun < SPARSE_NS);
}

/* Returns pages of which only the first one was touched. */
static volatile char *fresh_pages(size_t n)
{
	volatile char *pages =
		mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		die("no memory", errno);
	(void)madvise((void *)pages, n * PAGE, MADV_NOHUGEPAGE);
	pages[0] = 1;
	return pages;
}

static void release(volatile char *pages, size_t n)
{
	(void)munmap((void *)pages, n * PAGE);
}

static void turn(const struct program *program, bool on)
{
	int r = victim_event_switch(program->event_fd, on);

	if (r < 0)
		die("cannot switch an event", -r);
}

static double dense_loop(void)
{
	double ns = victim_run(DENSE_PAGES);

	if (ns < 0)
		die("no memory", ENOMEM);
	return ns;
}

/* Returns the median of the loops' means of a program's time. */
static double dense_program(const struct program *program)
{
	double ns[DENSE_LOOPS];

	turn(program, true);
	(void)dense_loop(); /* warms up */
	for (size_t i = 0; i < DENSE_LOOPS; i++) {
		struct victim_runs before = victim_program_runs(program->fd), after;

		(void)dense_loop();
		after = victim_program_runs(program->fd);
		if (after.runs - before.runs < DENSE_PAGES)
			die("a program does not run", ENODATA);
		ns[i] = (double)(after.ns - before.ns) / (double)(after.runs - before.runs);
	}
	turn(program, false);
	return victim_median(ns, DENSE_LOOPS);
}

/* Returns the median of a program's time in samples that came alone. */
static double sparse_program(const struct program *program, enum kind kind)
{
	volatile char *pages = fresh_pages(SPARSE_SAMPLES + 1);
	double ns[SPARSE_SAMPLES];
	size_t n = 0;

	turn(program, true);
	for (size_t i = 1; i <= SPARSE_SAMPLES; i++) {
		struct victim_runs before = victim_program_runs(program->fd), after;

		other_work(other_bytes[kind]);
		pages[i * PAGE] = 1;
		after = victim_program_runs(program->fd);
		if (after.runs == before.runs + 1)
			ns[n++] = (double)(after.ns - before.ns);
	}
	turn(program, false);
	release(pages, SPARSE_SAMPLES + 1);
	if (n < SPARSE_SAMPLES / 2)
		die("samples did not come alone", ENODATA);
	return victim_median(ns, n);
}

static double dense_victim(const struct program *program)
{
	double with[DENSE_LOOPS], without[DENSE_LOOPS];

	(void)dense_loop();
	for (size_t i = 0; i < DENSE_LOOPS; i++) {
		without[i] = dense_loop();
		turn(program, true);
		with[i] = dense_loop();
		turn(program, false);
	}
	return victim_median(with, DENSE_LOOPS) - victim_median(without, DENSE_LOOPS);
}

/* Returns the nanoseconds of a page fault after other work. */
static double sparse_fault(volatile char *page, enum kind kind)
{
	u64 begun;

	other_work(other_bytes[kind]);
	(void)monotonic_ns(); /* brings the clock's own code and data into the caches */
	begun = monotonic_ns();
	*page = 1;
	return (double)(monotonic_ns() - begun);
}

/* Switching the event brings some of perf into the caches, so other work follows it. */
static double sparse_victim(const struct program *program, enum kind kind)
{
	volatile char *pages = fresh_pages(2 * SPARSE_SAMPLES + 1);
	double with[SPARSE_SAMPLES], without[SPARSE_SAMPLES];

	for (size_t i = 0; i < SPARSE_SAMPLES; i++) {
		without[i] = sparse_fault(&pages[(2 * i + 1) * PAGE], kind);
		turn(program, true);
		with[i] = sparse_fault(&pages[(2 * i + 2) * PAGE], kind);
		turn(program, false);
	}
	release(pages, 2 * SPARSE_SAMPLES + 1);
	return victim_median(with, SPARSE_SAMPLES) - victim_median(without, SPARSE_SAMPLES);
}

static void measure(const struct program *programs, double ret[ROWS][KINDS])
{
	int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (statistics < 0)
		die("cannot have programs timed", errno);
	for (enum row row = EMPTY; row < VICTIM; row++) {
		ret[row][DENSE] = dense_program(&programs[row]);
		for (enum kind kind = SPARSE; kind < KINDS; kind++)
			ret[row][kind] = sparse_program(&programs[row], kind);
	}
	(void)close(statistics);
	ret[VICTIM][DENSE] = dense_victim(&programs[PEBSD]);
	for (enum kind kind = SPARSE; kind < KINDS; kind++)
		ret[VICTIM][kind] = sparse_victim(&programs[PEBSD], kind);
}

/* Prints the median, and in brackets the spread without the worst round. */
static void print_spread(const double *values, size_t n)
{
	const struct bench_spread spread = bench_spread_of(values, n, BENCH_LOWER);
	char median[BENCH_FIGURE], low[BENCH_FIGURE], high[BENCH_FIGURE];

	(void)printf(" %s (%s to %s) |", bench_figure(spread.median, median), bench_figure(spread.low, low),
		     bench_figure(spread.high, high));
}

static void print_table(double (*rounds)[ROWS][KINDS], size_t n)
{
	(void)printf("| a sample | dense, ns | sparse, ns | over dense | cold, ns | over dense |\n"
		     "|---|--:|--:|--:|--:|--:|\n");
	for (enum row row = EMPTY; row < ROWS; row++) {
		(void)printf("| %s |", row_names[row]);
		for (enum kind kind = DENSE; kind < KINDS; kind++) {
			double ns[ROUNDS_MAX], ratios[ROUNDS_MAX];

			for (size_t i = 0; i < n; i++) {
				ns[i] = rounds[i][row][kind];
				ratios[i] = ns[i] / rounds[i][row][DENSE];
			}
			print_spread(ns, n);
			if (kind != DENSE)
				print_spread(ratios, n);
		}
		(void)printf("\n");
	}
}

int main(int argc, char **argv)
{
	static double results[ROUNDS_MAX][ROWS][KINDS];
	_cleanup_(stripes_done) struct stripes stripes = {0};
	struct program programs[VICTIM];
	struct peers_bpf *peers;
	struct kernel *kernel;
	u64 rounds = ROUNDS;
	int r;

	if (argc > 2 || (argc == 2 && number_parse(argv[1], 1, ROUNDS_MAX, &rounds) < 0)) {
		(void)fprintf(stderr, "usage: sparse_sample [ROUNDS, up to %d]\n", ROUNDS_MAX);
		return 2;
	}
	(void)libbpf_set_print(NULL);
	other_memory = calloc(1, other_bytes[COLD]);
	peers = peers_bpf__open_and_load();
	if (!other_memory || !peers)
		die("cannot load the empty program", errno);
	memset(other_memory, 1, other_bytes[COLD]); /* so that other work makes no page faults */
	if ((r = stripes_of_machine(NULL, (u32)libbpf_num_possible_cpus(), &stripes)) < 0 ||
	    (r = victim_pin(VICTIM_CPU)) < 0)
		die("cannot use the CPUs", -r);
	kernel = bench_pebsd_open("sparse_sample", &stripes);
	programs[EMPTY].fd = bpf_program__fd(peers->progs.empty);
	programs[PEBSD].fd = kernel_program_fd(kernel, 0);
	for (enum row row = EMPTY; row < VICTIM; row++) {
		programs[row].event_fd = victim_event_open_own(programs[row].fd);
		if (programs[row].event_fd < 0)
			die("cannot open an event of page faults", -programs[row].event_fd);
	}
	for (size_t round = 0; round < rounds; round++)
		measure(programs, results[round]);
	print_table(results, rounds);
	for (enum row row = EMPTY; row < VICTIM; row++)
		(void)close(programs[row].event_fd);
	kernel_free(kernel);
	peers_bpf__destroy(peers);
	free(other_memory);
	return 0;
}
