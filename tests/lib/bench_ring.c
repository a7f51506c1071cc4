// SPDX-License-Identifier: GPL-2.0
#include "bench_ring.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include <bpf/libbpf.h>

#include "../bench/peers/peers.h"
#include "account.h"
#include "base/cleanup.h"
#include "bench_victim.h"

struct bench_ring {
	struct ring_buffer *ring;
	struct latency_record *records; /* one per cgroup */
	u64 *cgroups;
	size_t n_cgroups;
	size_t last; /* cgroup of the previous sample */
	bool woken;
	struct bench_ring_counts counts; /* owned by the thread until it has ended */
	_Atomic bool stop;
	pthread_t thread;
};

/* Returns PEER_ENTRIES if there is no room for another cgroup. */
static size_t find_cgroup(struct bench_ring *ring, u64 cgroup_id)
{
	for (size_t i = 0; i < ring->n_cgroups; i++)
		if (ring->cgroups[i] == cgroup_id)
			return i;
	if (ring->n_cgroups == PEER_ENTRIES)
		return PEER_ENTRIES;
	ring->cgroups[ring->n_cgroups] = cgroup_id;
	return ring->n_cgroups++;
}

static int take(void *context, void *data, size_t size)
{
	struct bench_ring *ring = context;
	const struct peer_record *record = data;
	struct sample sample;

	if (size != sizeof(*record))
		return 0;
	if (ring->last >= ring->n_cgroups || ring->cgroups[ring->last] != record->cgroup_id)
		ring->last = find_cgroup(ring, record->cgroup_id);
	if (ring->last == PEER_ENTRIES)
		return 0;
	sample = (struct sample){.cgroup_id = record->cgroup_id,
				 .latency = record->latency,
				 .data_source = record->data_source,
				 .period = record->period,
				 .fields = SAMPLE_LATENCY | SAMPLE_DATA_SOURCE};
	account_latency(&ring->records[ring->last], &sample, false);
	return 0;
}

static void *main_of(void *data)
{
	const struct timespec pause = {.tv_nsec = BENCH_RING_MS * (long)NSEC_PER_MSEC};
	struct bench_ring *ring = data;
	struct timespec time;
	bool stop;

	(void)victim_pin(victim_other_cpu());
	do {
		int n;

		stop = ring->stop;
		if (ring->woken && !stop) {
			n = ring_buffer__poll(ring->ring, BENCH_RING_MS);
		} else {
			if (!stop)
				(void)nanosleep(&pause, NULL);
			n = ring_buffer__consume(ring->ring);
		}
		if (n > 0)
			ring->counts.samples += (u64)n;
	} while (!stop);
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	ring->counts.cpu_ns = (u64)time.tv_sec * NSEC_PER_SEC + (u64)time.tv_nsec;
	return NULL;
}

static struct bench_ring *ring_free(struct bench_ring *ring)
{
	if (ring->ring)
		ring_buffer__free(ring->ring);
	free(ring->records);
	free(ring->cgroups);
	free(ring);
	return NULL;
}

struct bench_ring *bench_ring_start(int map_fd, bool woken)
{
	struct bench_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->woken = woken;
	ring->records = calloc(PEER_ENTRIES, sizeof(struct latency_record));
	ring->cgroups = calloc(PEER_ENTRIES, sizeof(u64));
	ring->ring = ring_buffer__new(map_fd, take, ring, NULL);
	errno = ENOMEM;
	if (!ring->records || !ring->cgroups || !ring->ring)
		return ring_free(ring);
	errno = pthread_create(&ring->thread, NULL, main_of, ring);
	return errno ? ring_free(ring) : ring;
}

struct bench_ring_counts bench_ring_stop(struct bench_ring *ring)
{
	struct bench_ring_counts counts;

	ring->stop = true;
	(void)pthread_join(ring->thread, NULL);
	counts = ring->counts;
	(void)ring_free(ring);
	return counts;
}
