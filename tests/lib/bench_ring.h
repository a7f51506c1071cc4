// SPDX-License-Identifier: GPL-2.0
/* The user side of a streamer: a thread that takes samples out of a BPF ring buffer and counts them as
 * pebsd's program does, by the same function, on a CPU that is not the victim's. */
#ifndef PEBSD_BENCH_RING_H
#define PEBSD_BENCH_RING_H

#include <stdbool.h>

#include "pebsd/types.h"

/* How often a ring that wakes nobody is looked into. */
#define BENCH_RING_MS 20

struct bench_ring;

/* `woken`: sleeps until the program wakes it, and does not look by itself. NULL with errno. */
struct bench_ring *bench_ring_start(int map_fd, bool woken);

struct bench_ring_figures {
	u64 samples;
	u64 cpu_ns; /* of the thread */
};

/* Takes what is in the ring and ends. */
struct bench_ring_figures bench_ring_stop(struct bench_ring *ring);

#endif
