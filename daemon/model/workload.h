// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that the model runs: streams of retired instructions, each with a characteristic memory behaviour.
 *
 * WORKLOADS show one behaviour each, always the same. PROGRAMS are those of the scenario (scenario.h), in which
 * they sleep, disturb each other and change.
 *
 * Of the workloads, the order by mean latency of the loads above 30 cycles, highest first, is the same on every machine
 * with load latency: remote-numa; pointer-chase; false-sharing, locked-counters and mix, in any order; streaming;
 * tlb-thrash. Typical of each except mix:
 * - streaming: fill buffers
 * - pointer-chase: local DRAM (three of four) and L3
 * - remote-numa: remote DRAM, and some in the other socket's caches
 * - false-sharing: HITM, a quarter of it remote
 * - tlb-thrash: page walks
 * - locked-counters: locked accesses
 */
#ifndef PEBSD_MODEL_WORKLOAD_H
#define PEBSD_MODEL_WORKLOAD_H

#include "memory.h"

#define WORKLOADS(X)                                                                                       \
	X(STREAMING, "streaming", "reads a large array from its start to its end")                         \
	X(POINTER_CHASE, "pointer-chase", "follows pointers through more memory than the caches hold")     \
	X(REMOTE_NUMA, "remote-numa", "follows pointers through memory of the other socket")               \
	X(FALSE_SHARING, "false-sharing", "writes near words that another core writes, in the same lines") \
	X(TLB_THRASH, "tlb-thrash", "touches one line in each of more pages than the TLBs hold")           \
	X(LOCKED_COUNTERS, "locked-counters", "counts with locked instructions, some of them shared")      \
	X(MIX, "mix", "a mix of all of these, mostly in the first level cache")

#define PROGRAMS(X)                                                                                       \
	X(DATABASE, "database", "searches an index and reads pages, some of them on the other node")      \
	X(BACKUP, "backup", "wakes up and reads the files of the other node")                             \
	X(SHOP, "shop", "serves pages and counts orders; a deploy brings false sharing")                  \
	X(BATCH, "batch", "wakes up and reads a table from its start to its end")                         \
	X(CACHE, "cache", "looks up keys in a table of more pages than the TLBs hold, and locks entries") \
	X(MONITOR, "monitor", "wakes up every ten seconds and reads counters")

#define WORKLOAD_ENUM_(name, word, text) WORKLOAD_##name,
enum workload_kind {
	WORKLOADS(WORKLOAD_ENUM_) WORKLOAD_COUNT, /* the workloads without the programs */
	WORKLOAD_BEFORE_PROGRAMS_ = WORKLOAD_COUNT - 1,
	PROGRAMS(WORKLOAD_ENUM_) WORKLOAD_KINDS, /* all kinds: workloads and programs */
};
#undef WORKLOAD_ENUM_

extern const char *const workload_names[WORKLOAD_KINDS];
extern const char *const workload_texts[WORKLOAD_KINDS];

static inline bool workload_is_program(enum workload_kind kind)
{
	return (int)kind >= (int)WORKLOAD_COUNT;
}

/* Returns the workload with this name, or -EINVAL. */
int workload_find(const char *name);

/*
 * Plain data, except for its memory, which the caller owns. Each kind has its own instruction addresses in
 * WORKLOAD_TEXT and data addresses in WORKLOAD_DATA.
 */
#define WORKLOAD_TEXT      0x401000ULL
#define WORKLOAD_TEXT_SIZE 0x1000ULL
#define WORKLOAD_DATA      0x7f0000000000ULL
#define WORKLOAD_DATA_SIZE 0x1000000000ULL

/*
 * The name that a debugger would show for an address of a workload: a function (`code`), a variable or the
 * stack.
 */
struct workload_name {
	enum workload_kind kind;
	bool code;
	const char *name; /* a constant; NULL: the stack */
	u64 offset;       /* bytes from the start of the function or variable, or of the stack */
	const char *file; /* of code: the source file, a constant; it exists only in the model */
	u32 line;         /* of code */
	bool remote;      /* data in memory of the other node */
};

/* Returns false and does not change `ret` if no workload uses the address. */
bool workload_name_of(u64 address, struct workload_name *ret);

struct workload {
	enum workload_kind kind;
	const struct memory_shape *shape;
	struct memory *memory;
	struct random random;
	u64 tsc;             /* time at which the next instruction is dispatched, core clock cycles */
	u64 retired;         /* time at which the last instruction retired */
	u64 position[4];     /* the meaning depends on the kind */
	u32 phase;           /* position in the loop's body */
	bool shared_tallies; /* other cores write the shop's tallies */
	u32 thread;          /* number of the thread: each has a word of its own in the shared lines */
};

/*
 * Initializes every field. The caches start warm, as after a long run, so that the shares do not change over
 * time.
 */
void workload_open(struct workload *workload, enum workload_kind kind, const struct memory_shape *shape,
		   struct memory *memory, u64 seed);

/* Executes the next instruction. As in real programs, about every third or fourth one accesses memory. */
void workload_step(struct workload *workload, struct retired *ret);

/* Executes instructions up to and including the next load, and returns that load. */
void workload_next_load(struct workload *workload, struct retired *ret);

#endif
