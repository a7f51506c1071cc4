// SPDX-License-Identifier: GPL-2.0
/*
 * The memory system that a core sees: caches with their lines, TLBs, line fill buffers, the other cores and
 * the other socket, with latencies that vary. One a workload; deterministic from its seed.
 */
#ifndef PEBSD_MODEL_MEMORY_H
#define PEBSD_MODEL_MEMORY_H

#include "machine.h"
#include "random.h"
#include "retired.h"

struct memory;

/* Bytes that memory_open() wants for this shape, 64-byte aligned. */
size_t memory_size(const struct memory_shape *shape);

/* Lays out an empty memory system in `storage`, the caller's, zeroed or not. Never fails. */
struct memory *memory_open(void *storage, const struct memory_shape *shape, u64 seed);

enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_PREFETCH };

struct access {
	u64 address; /* data linear address */
	u64 tsc;     /* core clock cycles at dispatch; never goes back */
	u8 kind;     /* enum access_kind */
	bool remote; /* the page's home is the other socket */
	bool locked;
	bool large_page; /* the page is one of 2 MB */
	bool uncached;   /* PLACE_UNCACHED; with `io` PLACE_IO */
	bool io;
};

/* Does the access; sets place, asked, translated, latency, instruction_latency, locked and address of `ret`.
 */
void memory_access(struct memory *memory, const struct access *access, struct retired *ret);

/* The lines of this range were read long ago: they are in L3, as far as it has room, the last ones in L2 too.
 * Costs no time. */
void memory_warm(struct memory *memory, u64 address, u64 bytes);

/* Another core stores to the line: it is gone from this core's caches and modified there, on this socket or
 * the other one. */
void memory_other_writes(struct memory *memory, u64 address, bool other_socket);

/* Another core loads the line: it is in its cache, clean. */
void memory_other_reads(struct memory *memory, u64 address, bool other_socket);

#endif
