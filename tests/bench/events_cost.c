// SPDX-License-Identifier: GPL-2.0
/*
 * events_cost [ROUND [LOOPS]]: what a sample costs with pebsd and with other ways to the same figures, at the
 * same events (tests/lib/bench_victim.h), with the same synthetic latency and data source: one round, as
 * lines for bench_report. As root.
 *
 *   body      nanoseconds of the program, as the kernel times it, over those of an empty one
 *   victim    nanoseconds that a page fault takes longer, without that timing, next to faults without event
 *   consumer  processor time of who reads a ring, a sample
 *   bytes     that leave the kernel, a sample
 *   lost      % of the events
 *
 * What runs is pinned: the victim to one CPU, readers of a ring to another. The order changes by round.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "bench_line.h"
#include "bench_victim.h"
#include "peers/peers.h"

/* Which knows their types. */
#include "peers.skel.h"

#define PAGES     8192
#define LOOPS     7
#define LOOPS_MAX 100
#define QUIET_MS  20 /* between looks into a ring that wakes nobody */

enum kind { EVENT_ALONE, EMPTY, READ_ONLY, SHARED_HASH, PERCPU_HASH, LRU_HASH, RING_QUIET, RING, KINDS };

static const char *const kind_names[KINDS] = {
	[EVENT_ALONE] = "event without program",
	[EMPTY] = "empty program",
	[READ_ONLY] = "latency and source made, not counted",
	[SHARED_HASH] = "shared hash",
	[PERCPU_HASH] = "per-CPU hash",
	[LRU_HASH] = "LRU per-CPU hash",
	[RING_QUIET] = "ring buffer, no wakeups",
	[RING] = "ring buffer",
};

struct consumer {
	struct ring_buffer *ring;
	struct peer_value *values; /* of the last cgroup, and others */
	u64 *cgroups;
	size_t n_cgroups;
	int timeout_ms; /* of a poll; 0: looks every QUIET_MS */
	_Atomic u64 consumed;
	_Atomic u64 cpu_ns;
	_Atomic bool stop;
	pthread_t thread;
};

struct bench {
	struct peers_bpf *peers;
	unsigned loops;
	double empty_ns; /* the empty program's time */
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

/* What a streamer's user side does: finds the cgroup, mostly that of the record before, and adds up. */
static int consume(void *context, void *data, size_t size)
{
	struct consumer *consumer = context;
	const struct peer_record *record = data;
	size_t i = 0;

	if (size != sizeof(*record))
		return 0;
	while (i < consumer->n_cgroups && consumer->cgroups[i] != record->cgroup_id)
		i++;
	if (i == consumer->n_cgroups) {
		if (i == PEER_ENTRIES)
			return 0;
		consumer->cgroups[consumer->n_cgroups++] = record->cgroup_id;
	}
	peer_add(&consumer->values[i], record);
	return 0;
}

static void *consumer_main(void *data)
{
	const struct timespec pause = {.tv_nsec = QUIET_MS * (long)NSEC_PER_MSEC};
	struct consumer *consumer = data;
	struct timespec time;
	bool stop;

	(void)victim_pin(victim_other_cpu());
	do {
		int n;

		stop = consumer->stop;
		if (consumer->timeout_ms) {
			n = ring_buffer__poll(consumer->ring, consumer->timeout_ms);
		} else {
			if (!stop)
				(void)nanosleep(&pause, NULL);
			n = ring_buffer__consume(consumer->ring);
		}
		if (n > 0)
			consumer->consumed += (u64)n;
	} while (!stop);
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	consumer->cpu_ns = (u64)time.tv_sec * NSEC_PER_SEC + (u64)time.tv_nsec;
	return NULL;
}

static void consumer_start(const struct bench *bench, bool woken, struct consumer *ret)
{
	*ret = (struct consumer){.values = calloc(PEER_ENTRIES, sizeof(struct peer_value)),
				 .cgroups = calloc(PEER_ENTRIES, sizeof(u64)),
				 .timeout_ms = woken ? QUIET_MS : 0};
	ret->ring = ring_buffer__new(bpf_map__fd(bench->peers->maps.ring), consume, ret, NULL);
	if (!ret->values || !ret->cgroups || !ret->ring)
		die("no ring", ENOMEM);
	errno = pthread_create(&ret->thread, NULL, consumer_main, ret);
	if (errno)
		die("no thread", errno);
}

static void consumer_stop(struct consumer *consumer)
{
	consumer->stop = true;
	(void)pthread_join(consumer->thread, NULL);
	ring_buffer__free(consumer->ring);
	free(consumer->values);
	free(consumer->cgroups);
}

static void must_run(void)
{
	if (victim_run(PAGES) < 0)
		die("no memory", ENOMEM);
}

/* The program's own time, and what of the events it did not see. */
static void measure_body(struct bench *bench, enum kind kind, int event_fd)
{
	_cleanup_close_ int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	u64 lost = bench->peers->bss->ring_lost, events = victim_event_count(event_fd);
	struct victim_runs before, after;
	double ns;

	if (statistics < 0)
		die("cannot have programs timed", errno);
	(void)victim_event_switch(event_fd, true);
	must_run(); /* warms up */
	before = victim_program_runs(program_of(bench, kind));
	for (unsigned i = 0; i < bench->loops; i++)
		must_run();
	after = victim_program_runs(program_of(bench, kind));
	(void)victim_event_switch(event_fd, false);
	after.runs = after.runs > before.runs ? after.runs : before.runs + 1;
	ns = (double)(after.ns - before.ns) / (double)(after.runs - before.runs);
	if (kind == EMPTY) {
		bench->empty_ns = ns;
		bench_line("body", "empty program, whole", "ns", ns);
		return;
	}
	bench_line("body", kind_names[kind], "ns", ns - bench->empty_ns);
	events = victim_event_count(event_fd) - events;
	lost = bench->peers->bss->ring_lost - lost;
	if (kind == RING || kind == RING_QUIET)
		bench_line("lost", kind_names[kind], "%", 100.0 * (double)lost / (double)events);
}

/* Loops with the event and without take turns. */
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

static void measure(struct bench *bench, enum kind kind)
{
	_cleanup_close_ int event_fd = victim_event_open(VICTIM_CPU, program_of(bench, kind));
	bool ring = kind == RING || kind == RING_QUIET;
	struct consumer consumer;

	if (event_fd < 0)
		die("cannot open an event of page faults", -event_fd);
	if (ring)
		consumer_start(bench, kind == RING, &consumer);
	if (kind != EVENT_ALONE)
		measure_body(bench, kind, event_fd);
	if (ring) {
		consumer_stop(&consumer);
		consumer_start(bench, kind == RING, &consumer);
	}
	measure_victim(bench, kind, event_fd);
	if (!ring)
		return;
	consumer_stop(&consumer);
	if (consumer.consumed == 0)
		die("nothing came through the ring", ENODATA);
	bench_line("consumer", kind_names[kind], "ns", (double)consumer.cpu_ns / (double)consumer.consumed);
	bench_line("bytes", kind_names[kind], "bytes", sizeof(struct peer_record) + BPF_RINGBUF_HDR_SZ);
}

int main(int argc, char **argv)
{
	struct bench bench = {.loops = LOOPS};
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
	r = victim_pin(VICTIM_CPU);
	if (r < 0)
		die("cannot be pinned to a CPU", -r);
	must_run();
	/* The empty program first: it is what the others are held against. */
	measure(&bench, EMPTY);
	for (unsigned i = 0; i < KINDS; i++) {
		enum kind kind = (enum kind)((i + (unsigned)round) % KINDS);

		if (kind != EMPTY)
			measure(&bench, kind);
	}
	peers_bpf__destroy(bench.peers);
	return 0;
}
