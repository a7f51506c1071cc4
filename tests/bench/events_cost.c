// SPDX-License-Identifier: GPL-2.0
/*
 * events_cost [ROUND [LOOPS]]: measures the cost of a sample with pebsd and with other ways to get the same
 * counters. All use the same events (tests/lib/bench_victim.h) with the same synthetic latency and data source
 * (peers/synthetic.h), except a count of pebsd, which has neither: its program is the daemon's own. Prints one round,
 * as lines for bench_report. Needs root.
 *
 *   body        nanoseconds of the program, as the kernel times it, minus those of an empty one
 *   victim      extra nanoseconds of a page fault with the event, without the kernel's timing
 *   consumer    processor time that the reader of a ring takes per sample
 *   bytes       bytes per sample that leave the kernel
 *   lost        % of the events
 *   contention  `body` with two CPUs that sample one cgroup, divided by `body` with one
 *
 * Processes are pinned: the victim to one CPU, readers of a ring to another. The order changes by round.
 *
 * pebsd's programs are loaded by its own loader. The hashes hold a little less than pebsd does
 * (peers/peers.h). Readers of rings count exactly what the hashes count.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/number.h"
#include "bench_line.h"
#include "bench_pebsd.h"
#include "bench_ring.h"
#include "bench_victim.h"
#include "peers/peers.h"

/* Uses the types above. */
#include "peers.skel.h"

#define PAGES     8192
#define LOOPS     7
#define LOOPS_MAX 100

enum kind {
	EVENT_ALONE,
	EMPTY,
	READ_ONLY,
	PEBSD,
	PEBSD_SHARED,
	PEBSD_COUNT,
	SHARED_HASH,
	PERCPU_HASH,
	LRU_HASH,
	RING_QUIET,
	RING,
	KINDS
};

static const char *const kind_names[KINDS] = {
	[EVENT_ALONE] = "event without program",
	[EMPTY] = "empty program",
	[READ_ONLY] = "read as the peers do, not counted",
	[PEBSD] = "pebsd",
	[PEBSD_SHARED] = "pebsd, CPUs share a stripe",
	[PEBSD_COUNT] = "pebsd, a count",
	[SHARED_HASH] = "shared hash",
	[PERCPU_HASH] = "per-CPU hash",
	[LRU_HASH] = "LRU per-CPU hash",
	[RING_QUIET] = "ring buffer, no wakeups",
	[RING] = "ring buffer",
};

struct bench {
	struct peers_bpf *peers;
	struct kernel *alone;  /* pebsd with one stripe per CPU */
	struct kernel *shared; /* pebsd with one stripe for all CPUs */
	unsigned loops;
	double empty_ns;     /* time of the empty program */
	double body[KINDS];  /* time minus `empty_ns` */
	double empty_two_ns; /* time of the empty program on two CPUs at once */
};

static void die(const char *what, int error)
{
	(void)fprintf(stderr, "events_cost: %s: %s\n", what, strerror(error));
	exit(EXIT_FAILURE);
}

static int program_of(const struct bench *bench, enum kind kind)
{
	switch (kind) {
	case EMPTY:
		return bpf_program__fd(bench->peers->progs.empty);
	case READ_ONLY:
		return bpf_program__fd(bench->peers->progs.read_only);
	case PEBSD:
		return kernel_program_fd(bench->alone, BENCH_PEBSD_LOADS);
	case PEBSD_SHARED:
		return kernel_program_fd(bench->shared, BENCH_PEBSD_LOADS);
	case PEBSD_COUNT:
		return kernel_program_fd(bench->alone, BENCH_PEBSD_COUNT);
	case SHARED_HASH:
		return bpf_program__fd(bench->peers->progs.shared_hash);
	case PERCPU_HASH:
		return bpf_program__fd(bench->peers->progs.percpu_hash);
	case LRU_HASH:
		return bpf_program__fd(bench->peers->progs.lru_percpu_hash);
	case RING_QUIET:
		return bpf_program__fd(bench->peers->progs.ring_quiet);
	case RING:
		return bpf_program__fd(bench->peers->progs.ring_waking);
	default:
		return -1;
	}
}

static bool is_pebsd(enum kind kind)
{
	return kind == PEBSD || kind == PEBSD_SHARED || kind == PEBSD_COUNT;
}

static bool is_ring(enum kind kind)
{
	return kind == RING || kind == RING_QUIET;
}

static void open_both(struct bench *bench)
{
	_cleanup_(stripes_done) struct stripes own = {0};
	u32 cpus = (u32)libbpf_num_possible_cpus();
	_cleanup_free_ u8 *first = calloc(cpus, 1);
	struct stripes one = {.n = 1, .cpus = cpus, .of_cpu = first};

	if (!first || stripes_of_machine(NULL, cpus, &own) < 0)
		die("the CPUs are not known", ENOMEM);
	bench->alone = bench_pebsd_open("events_cost", &own);
	bench->shared = bench_pebsd_open("events_cost", &one);
}

/* Returns the loads that pebsd has counted so far, without those of the unattributed slot. */
static u64 loads_counted(const struct kernel *kernel)
{
	u64 sum = 0;

	for (u32 stripe = 0; stripe < kernel_stripes(kernel); stripe++)
		for (u32 slot = SLOT_UNATTRIBUTED + 1; slot < BENCH_PEBSD_SLOTS; slot++) {
			const struct latency_record *record =
				kernel_latency_record(kernel, BENCH_PEBSD_LOADS, stripe, slot);

			for (size_t i = 0; i < FINE_BUCKETS; i++)
				sum += record->latency[i];
		}
	return sum;
}

/* The same for samples of the count. */
static u64 counts_counted(const struct kernel *kernel)
{
	u64 sum = 0;

	for (u32 stripe = 0; stripe < kernel_stripes(kernel); stripe++)
		for (u32 slot = SLOT_UNATTRIBUTED + 1; slot < BENCH_PEBSD_SLOTS; slot++)
			sum += kernel_plain_record(kernel, BENCH_PEBSD_COUNT, stripe, slot)
				       ->samples[SOURCE_UNKNOWN];
	return sum;
}

/*
 * Returns how many of `events` have arrived. Only valid for pebsd, and for kinds that lose events in no other
 * way than by full rings.
 */
static u64 arrived(const struct bench *bench, enum kind kind, u64 events)
{
	if (kind == PEBSD)
		return loads_counted(bench->alone);
	if (kind == PEBSD_SHARED)
		return loads_counted(bench->shared);
	if (kind == PEBSD_COUNT)
		return counts_counted(bench->alone);
	return events - bench->peers->bss->ring_lost;
}

static void must_run(void)
{
	if (victim_run(PAGES) < 0)
		die("no memory", ENOMEM);
}

/* Returns the nanoseconds per run of the program, over `loops` loops of the victim. */
static double timed(const struct bench *bench, enum kind kind)
{
	struct victim_runs before, after;

	must_run(); /* warms up */
	before = victim_program_runs(program_of(bench, kind));
	for (unsigned i = 0; i < bench->loops; i++)
		must_run();
	after = victim_program_runs(program_of(bench, kind));
	if (after.runs <= before.runs)
		die("a program does not run", ENODATA);
	return (double)(after.ns - before.ns) / (double)(after.runs - before.runs);
}

static void measure_body(struct bench *bench, enum kind kind, int event_fd)
{
	_cleanup_close_ int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	u64 events = victim_event_count(event_fd), before = arrived(bench, kind, events);
	double ns;

	if (statistics < 0)
		die("cannot have programs timed", errno);
	(void)victim_event_switch(event_fd, true);
	ns = timed(bench, kind);
	(void)victim_event_switch(event_fd, false);
	if (kind == EMPTY) {
		bench->empty_ns = ns;
		bench_line("body", "empty program, whole", "ns", ns);
		return;
	}
	bench->body[kind] = ns - bench->empty_ns;
	bench_line("body", kind_names[kind], "ns", bench->body[kind]);
	if (!is_ring(kind) && !is_pebsd(kind))
		return;
	before = arrived(bench, kind, victim_event_count(event_fd)) - before;
	events = victim_event_count(event_fd) - events;
	bench_line("lost", kind_names[kind], "%", 100.0 * ((double)events - (double)before) / (double)events);
}

/* Alternates loops with and without the event. */
static void measure_victim(const struct bench *bench, enum kind kind, int event_fd)
{
	double with[LOOPS_MAX], without[LOOPS_MAX];

	must_run();
	for (unsigned i = 0; i < bench->loops; i++) {
		without[i] = victim_run(PAGES);
		(void)victim_event_switch(event_fd, true);
		with[i] = victim_run(PAGES);
		(void)victim_event_switch(event_fd, false);
	}
	bench_line("victim", kind_names[kind], "ns",
		   victim_median(with, bench->loops) - victim_median(without, bench->loops));
	if (kind == EVENT_ALONE)
		bench_line_better("victim", "no event, whole", "ns", victim_median(without, bench->loops),
				  BENCH_NEITHER);
}

static struct bench_ring *start_ring(const struct bench *bench, enum kind kind)
{
	struct bench_ring *ring = bench_ring_start(bpf_map__fd(bench->peers->maps.ring), kind == RING);

	if (!ring)
		die("cannot read a ring", errno);
	return ring;
}

static void measure(struct bench *bench, enum kind kind)
{
	_cleanup_close_ int event_fd = victim_event_open(VICTIM_CPU, program_of(bench, kind));
	struct bench_ring_counts counts;
	struct bench_ring *ring = NULL;

	if (event_fd < 0)
		die("cannot open an event of page faults", -event_fd);
	if (is_ring(kind))
		ring = start_ring(bench, kind);
	if (kind != EVENT_ALONE)
		measure_body(bench, kind, event_fd);
	if (ring) {
		(void)bench_ring_stop(ring);
		ring = start_ring(bench, kind);
	}
	measure_victim(bench, kind, event_fd);
	if (!ring)
		return;
	counts = bench_ring_stop(ring);
	if (counts.samples == 0)
		die("nothing came through the ring", ENODATA);
	bench_line("consumer", kind_names[kind], "ns", (double)counts.cpu_ns / (double)counts.samples);
	bench_line("bytes", kind_names[kind], "bytes", sizeof(struct peer_record) + BPF_RINGBUF_HDR_SZ);
}

/* Starts a process that causes page faults on the other CPU until the caller ends it. */
static pid_t start_rival(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("cannot start a process", errno);
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (victim_pin(victim_other_cpu()) == 0)
		while (victim_run(PAGES) >= 0)
			;
	_exit(1);
}

static void measure_contention(struct bench *bench, enum kind kind)
{
	_cleanup_close_ int here = victim_event_open(VICTIM_CPU, program_of(bench, kind));
	_cleanup_close_ int there = victim_event_open(victim_other_cpu(), program_of(bench, kind));
	_cleanup_close_ int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	pid_t rival;
	double ns;

	if (here < 0 || there < 0 || statistics < 0)
		die("cannot open events of page faults", here < 0 ? -here : -there);
	(void)victim_event_switch(here, true);
	(void)victim_event_switch(there, true);
	rival = start_rival();
	ns = timed(bench, kind);
	(void)kill(rival, SIGKILL);
	(void)waitpid(rival, NULL, 0);
	if (kind == EMPTY)
		bench->empty_two_ns = ns;
	else
		bench_line("contention", kind_names[kind], "ratio",
			   (ns - bench->empty_two_ns) / bench->body[kind]);
}

static void measure_all(struct bench *bench, unsigned round)
{
	static const enum kind rivals[] = {EMPTY, PEBSD, PEBSD_SHARED, PERCPU_HASH, SHARED_HASH};

	must_run();
	/* The empty program comes first because its time is subtracted from the others'. */
	measure(bench, EMPTY);
	for (unsigned i = 0; i < KINDS; i++) {
		enum kind kind = (enum kind)((i + round) % KINDS);

		if (kind != EMPTY)
			measure(bench, kind);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rivals); i++)
		if (victim_other_cpu() != VICTIM_CPU)
			measure_contention(bench, rivals[i]);
		else if (rivals[i] != EMPTY)
			bench_line_left_out("contention", kind_names[rivals[i]], "there is one CPU only");
}

int main(int argc, char **argv)
{
	struct bench bench = {0};
	u64 round = 1, loops = LOOPS;
	int r;

	if (argc > 3 || (argc > 1 && number_parse(argv[1], 1, 1000, &round) < 0) ||
	    (argc > 2 && number_parse(argv[2], 1, LOOPS_MAX, &loops) < 0)) {
		(void)fprintf(stderr, "usage: events_cost [ROUND [LOOPS, up to %d]]\n", LOOPS_MAX);
		return 2;
	}
	bench.loops = (unsigned)loops;
	(void)libbpf_set_print(NULL);
	bench.peers = peers_bpf__open_and_load();
	if (!bench.peers)
		die("cannot load the peers' programs", errno);
	open_both(&bench);
	r = victim_pin(VICTIM_CPU);
	if (r < 0)
		die("cannot be pinned to a CPU", -r);
	measure_all(&bench, (unsigned)round);
	kernel_free(bench.shared);
	kernel_free(bench.alone);
	peers_bpf__destroy(bench.peers);
	return 0;
}
