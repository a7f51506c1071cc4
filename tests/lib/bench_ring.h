// SPDX-License-Identifier: GPL-2.0
/*
 * The user-space side of a streaming profiler, for comparison. A thread takes samples out of a BPF ring
 * buffer and counts them with the same function as pebsd's program. The thread runs on another CPU than the
 * victim.
 */
#ifndef PEBSD_BENCH_RING_H
#define PEBSD_BENCH_RING_H

#include <stdbool.h>

#include "pebsd/types.h"

/* The polling interval of a thread without wakeups, in milliseconds. */
#define BENCH_RING_MS 20

struct bench_ring;

/*
 * With `woken`, the thread sleeps until the program wakes it, and does not poll. Returns NULL and sets errno
 * on error.
 */
struct bench_ring *bench_ring_start(int map_fd, bool woken);

struct bench_ring_counts {
	u64 samples;
	u64 cpu_ns; /* CPU time of the thread */
};

/* Reads the rest of the ring, and ends the thread. */
struct bench_ring_counts bench_ring_stop(struct bench_ring *ring);

#endif
