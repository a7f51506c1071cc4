// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that the model runs: streams of retired instructions, each with a memory behaviour of a name.
 *
 * By mean latency of the loads above 30 cycles, on every machine that has load latency: remote-numa, then
 * pointer-chase, then false-sharing, locked-counters and mix, then streaming, then tlb-thrash. What shows
 * each: streaming is in fill buffers, pointer-chase in local DRAM (three of four) and L3, remote-numa in
 * remote DRAM with some of the other socket's caches, false-sharing HITM, a quarter of it remote, tlb-thrash
 * page walks, locked-counters locked.
 */
#ifndef PEBSD_MODEL_WORKLOAD_H
#define PEBSD_MODEL_WORKLOAD_H

#include "memory.h"

#define WORKLOADS(X)                                                                                         \
	X(STREAMING, "streaming", "reads a large array from its start to its end")                           \
	X(POINTER_CHASE, "pointer-chase", "follows pointers through more memory than the caches hold")       \
	X(REMOTE_NUMA, "remote-numa", "follows pointers through memory of the other socket")                 \
	X(FALSE_SHARING, "false-sharing", "writes beside words that another core writes, in the same lines") \
	X(TLB_THRASH, "tlb-thrash", "touches one line in each of more pages than the TLBs hold")             \
	X(LOCKED_COUNTERS, "locked-counters", "counts with locked instructions, some of them shared")        \
	X(MIX, "mix", "a bit of each, mostly in the first level cache")

#define WORKLOAD_ENUM_(name, word, text) WORKLOAD_##name,
enum workload_kind { WORKLOADS(WORKLOAD_ENUM_) WORKLOAD_COUNT };
#undef WORKLOAD_ENUM_

extern const char *const workload_names[WORKLOAD_COUNT];
extern const char *const workload_texts[WORKLOAD_COUNT];

/* By name; -EINVAL. */
int workload_find(const char *name);

/*
 * Plain data but for its memory, which stays the caller's. Instructions have addresses of their own in
 * WORKLOAD_TEXT, data in WORKLOAD_DATA, both by kind.
 */
#define WORKLOAD_TEXT      0x401000ULL
#define WORKLOAD_TEXT_SIZE 0x1000ULL
#define WORKLOAD_DATA      0x7f0000000000ULL
#define WORKLOAD_DATA_SIZE 0x1000000000ULL

/* What a debugger would call an address of a workload's: a function (`code`), a variable, or its stack. */
struct workload_name {
	enum workload_kind kind;
	bool code;
	const char *name; /* a constant; NULL: the stack */
	u64 offset;       /* from the start of it, bytes */
};

/* False, with `ret` as it was: no workload has anything there. */
bool workload_name_of(u64 address, struct workload_name *ret);

struct workload {
	enum workload_kind kind;
	const struct memory_shape *shape;
	struct memory *memory;
	struct random random;
	u64 tsc;         /* when the next instruction is dispatched, core clock cycles */
	u64 retired;     /* when the last one retired */
	u64 position[4]; /* the kind's own */
	u32 phase;       /* in the loop's body */
};

/* Starts with the caches warm, as if it had run for long: its shares are the same from the first load on.
 * Sets each field. */
void workload_open(struct workload *workload, enum workload_kind kind, const struct memory_shape *shape,
		   struct memory *memory, u64 seed);

/* The next instruction. Believable: roughly every third to fourth accesses memory. */
void workload_step(struct workload *workload, struct retired *ret);

/* The next load, and all instructions before it: the loads of workload_step(), one after the other. */
void workload_next_load(struct workload *workload, struct retired *ret);

#endif
