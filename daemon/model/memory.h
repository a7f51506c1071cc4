// SPDX-License-Identifier: GPL-2.0
/*
 * The memory system of a core: caches with their lines, TLBs, line fill buffers, the other cores and the
 * other socket, with varying latencies. Each workload has its own memory system. Deterministic for a seed.
 */
#ifndef PEBSD_MODEL_MEMORY_H
#define PEBSD_MODEL_MEMORY_H

#include "machine.h"
#include "random.h"
#include "retired.h"

struct memory;

/* Returns the number of bytes that memory_open() needs for this shape, a multiple of 64. */
size_t memory_size(const struct memory_shape *shape);

/* Sets up an empty memory system in the caller's `storage`, which need not be zeroed. Never fails. */
struct memory *memory_open(void *storage, const struct memory_shape *shape, u64 seed);

enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_PREFETCH };

struct access {
	u64 address; /* data linear address */
	u64 tsc;     /* core clock cycles at dispatch; loads that overlap may start in another order */
	u8 kind;     /* enum access_kind */
	bool remote; /* the page is in memory of the other socket */
	bool locked;
	bool large_page; /* the page is 2 MB */
	bool uncached;   /* results in PLACE_UNCACHED, or with `io` in PLACE_IO */
	bool io;
};

/*
 * Performs the access. Sets place, snoop, translated, latency, instruction_latency, locked and address of
 * `ret`.
 */
void memory_access(struct memory *memory, const struct access *access, struct retired *ret);

/*
 * Marks this range as read long ago: its lines are in L3 as far as they fit, and the last ones also in L2.
 * Takes no simulated time.
 */
void memory_warm(struct memory *memory, u64 address, u64 bytes);

/*
 * Another core stores to the line. The line is removed from this core's caches and modified in the other
 * core's cache, on this socket or the other one.
 */
void memory_other_writes(struct memory *memory, u64 address, bool other_socket);

/* Another core loads the line, and has it clean in its cache. */
void memory_other_reads(struct memory *memory, u64 address, bool other_socket);

/* Lines that came from DRAM, also for prefetches. */
struct memory_traffic {
	u64 local;
	u64 remote; /* from memory of the other socket */
};

/* Returns the traffic since the start. */
struct memory_traffic memory_traffic(const struct memory *memory);

/* The longest mean wait that memory_contend() takes, so that each latency fits 16 bits. */
#define MEMORY_WAIT_MAX 400U

/*
 * Other cores use the same DRAM: from now on a line from DRAM waits for this many cycles on average. A wait
 * above MEMORY_WAIT_MAX acts as that. Without this call, no line waits for others.
 */
void memory_contend(struct memory *memory, u32 local_wait, u32 remote_wait);

#endif
