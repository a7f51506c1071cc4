// SPDX-License-Identifier: GPL-2.0
/*
 * The records of the BPF maps. BPF writes them, the daemon reads them through mmap(2).
 *
 * Counters only grow, and nothing resets them while a cgroup has the slot: a reader takes deltas.
 * Counters of 32 bits may wrap: take their deltas modulo 2^32, and those of sums modulo 2^64. The daemon
 * clears the records of a slot while the slot rests, when no program can find it, so that each cgroup begins
 * at zero.
 */
#ifndef PEBSD_RECORDS_H
#define PEBSD_RECORDS_H

#include "decode_tables.h"
#include "histogram.h"
#include "hot.h"
#include "sample.h"

/* A counter for each access flag, accessible by name or by its index in ACCESS_FLAGS. */
#define RECORD_FLAG_(name, ...) u32 name;
#define RECORD_FLAGS                               \
	union {                                    \
		struct {                           \
			ACCESS_FLAGS(RECORD_FLAG_) \
		};                                 \
		u32 flags[FLAG_COUNT];             \
	}

/* The record of one slot, stripe and event without latency. */
struct plain_record {
	u64 weight[SOURCE_SLOTS];  /* sum of periods, by source */
	u32 samples[SOURCE_SLOTS]; /* number of samples, by source */
	u32 snoop[SNOOP_SLOTS];
	u32 tlb[TLB_SLOTS];
	RECORD_FLAGS;
} __attribute__((aligned(64)));

/* Sums over the samples of one source. */
struct source_sums {
	u64 weight;           /* sum of periods */
	u64 latency;          /* cycles */
	u64 weighted_latency; /* sum of latency x period */
};

/*
 * The record of one slot, stripe and event with latency. Data that one sample writes lies together: the
 * octave of its source, its fine bucket, and its snoop and TLB results are in one cache line each, and the
 * sums of its source in at most two. Each sample is counted either in `source_latency` or in
 * `without_latency`, so their sum is the number of samples of the source.
 */
struct latency_record {
	struct source_sums sums[SOURCE_SLOTS];
	u32 snoop[SNOOP_SLOTS];
	u32 tlb[TLB_SLOTS];
	u32 source_latency[SOURCE_SLOTS][OCTAVE_BUCKETS];
	u32 without_latency[SOURCE_SLOTS];
	u64 instruction_latency_sum; /* cycles */
	u32 latency[FINE_BUCKETS];
	RECORD_FLAGS;
	u32 instruction_latency[COARSE_BUCKETS];
} __attribute__((aligned(64)));

/* Both compilers must see the same sizes: whole cache lines, and no gaps between members. */
#define RECORD_LINES_(u64s, u32s) (((u64s) * sizeof(u64) + (u32s) * sizeof(u32) + 63) / 64 * 64)
_Static_assert(sizeof(struct plain_record) ==
		       RECORD_LINES_(SOURCE_SLOTS, SOURCE_SLOTS + SNOOP_SLOTS + TLB_SLOTS + FLAG_COUNT),
	       "crosses the kernel boundary");
_Static_assert(sizeof(struct latency_record) ==
		       RECORD_LINES_(3 * SOURCE_SLOTS + 1, (OCTAVE_BUCKETS + 1) * SOURCE_SLOTS + SNOOP_SLOTS +
								   TLB_SLOTS + FINE_BUCKETS + FLAG_COUNT +
								   COARSE_BUCKETS),
	       "crosses the kernel boundary");
#undef RECORD_LINES_

/*
 * Dirty bytes, in rows: a row for each event and stripe, then a row for the owners of the slots, then a row for each
 * CPU that counts off-core responses. A program sets the byte of a record after it has written to the record, and the
 * byte of an owner after the owner changed. A reader clears a byte before it reads, and skips clean records, whose byte
 * is 0. A row has one byte per slot, rounded up to DIRTY_LINE.
 */
#define DIRTY_LINE 64

static inline u32 dirty_row(u32 slots)
{
	return (slots + DIRTY_LINE - 1) / DIRTY_LINE * DIRTY_LINE;
}

/*
 * State of one CPU. The inject program has an entry of its own after those of the CPUs. Entries are a pair of cache
 * lines apart: processors from Intel fetch lines in aligned pairs of 128 bytes (Intel 64 and IA-32 Architectures
 * Optimization Reference Manual, "Data Prefetching", spatial prefetcher). With one line per entry, a sample took up to
 * twice as long on Sapphire Rapids while the next CPU was sampled, too.
 */
struct cpu_state {
	u64 cgroup; /* of the last sample: the address of its struct cgroup, or its id if it was injected */
	u32 slot;   /* slot of that cgroup; valid while `epoch` is that of the index */
	u32 epoch;
	u32 stripe;       /* set by the daemon before any sample, like all members from `first_record` on */
	u32 runs;         /* runs of the perf_event programs; `timed_mask` selects those that are timed */
	u64 timed;        /* runs that were timed */
	u64 timed_ns;     /* total duration of the timed runs, without the cost of reading the clock */
	u32 first_record; /* first record of the CPU's stripe, among those of an event */
	u32 first_dirty;  /* first line of the CPU's stripe, among the dirty bytes of an event */
	u32 timed_mask;   /* a run is timed if its number has none of these bits */
	u32 reserved;
} __attribute__((aligned(128)));

_Static_assert(sizeof(struct cpu_state) == 128, "a pair of cache lines");

/* Slot 0 takes the samples of cgroups that have no slot of their own. */
#define SLOT_UNATTRIBUTED 0

/* Maximum number of slots in a table; a power of two. */
#define SLOTS_MAX 65536

/*
 * Records and owners of slots lie in blocks of this many slots. Each block has maps of its own, and blocks
 * are added while samples arrive, so existing records never move. A table that does not grow is one block of
 * any size.
 */
#define SLOT_BLOCK_LOG2 8
#define SLOT_BLOCK      (1U << SLOT_BLOCK_LOG2)
#define SLOT_BLOCKS_MAX (SLOTS_MAX / SLOT_BLOCK)

/*
 * The maps of a block. BLOCK_LATENCY and BLOCK_PLAIN are indexed by event (of that kind, from `first_record`
 * on), then by stripe, then by slot in the block. BLOCK_OWNERS is indexed by slot, and BLOCK_OFFCORE by CPU
 * and then by slot.
 */
enum slot_block_kind {
	BLOCK_LATENCY,
	BLOCK_PLAIN,
	BLOCK_OWNERS,
	BLOCK_OFFCORE,
	BLOCK_KINDS,
};

/* Maximum number of stripes of a slot. daemon/kernel/stripes.h says which CPU writes to which stripe. */
#define STRIPES_MAX 16

enum slot_state {
	SLOT_FREE,    /* belongs to no cgroup */
	SLOT_ALIVE,   /* the slot's cgroup exists */
	SLOT_DEAD,    /* the slot's cgroup is removed; exiting tasks may still be counted here */
	SLOT_RETIRED, /* no longer in the index; samples in flight may still arrive */
};

#define CGROUP_NAME_MAX 256 /* a directory name and its NUL: NAME_MAX + 1 */

/* The owner of a slot. Written by BPF; `state` is written last. */
struct slot_owner {
	u64 cgroup_id;
	u64 parent_id;              /* 0 for the root */
	u64 died_ns;                /* CLOCK_MONOTONIC, 0 while alive */
	u32 generation;             /* incremented each time the slot is taken or released */
	u32 state;                  /* enum slot_state */
	char name[CGROUP_NAME_MAX]; /* one path component, empty for the root */
	u32 next_free;              /* while free: the next free slot, SLOT_UNATTRIBUTED for none */
	u8 reserved[28];
};

_Static_assert(sizeof(struct slot_owner) == 320, "crosses the kernel boundary");

/* The samples that a stripe of an event did not count, by reason. Each record has its own cache line. */
struct rejected_record {
	u64 malformed; /* a latency above SAMPLE_LATENCY_MAX, or an event number that does not exist */
	u64 filtered;  /* not a loss: samples of operations that the event excludes (event_settings) */
	u64 reserved[6];
};

_Static_assert(sizeof(struct rejected_record) == 64, "one cache line");

/* Births and deaths of cgroups. */
struct slot_counters {
	u64 births;
	u64 deaths;
	u64 births_without_slot; /* the table was full: the cgroup's samples are unattributed */
	u64 names_unread;        /* the kernel could not read the name */
};

/* Free slots that a table of `slots` should keep: a quarter, at least one. With fewer, slots are short. */
static inline u32 slots_spare(u32 slots)
{
	return slots < 4 ? 1 : slots / 4;
}

/*
 * Requests of user space to the slot table. A BPF program carries them out, because a map system call
 * disables perf_event programs on its CPU (kernel/kernel.h).
 */
enum slot_request_kind {
	SLOT_ADOPT,     /* give `cgroup_id` a slot; an existing slot is kept */
	SLOT_MARK_DEAD, /* `cgroup_id` was removed before its adoption ended: mark its slot dead */
	SLOT_RETIRE,    /* remove the dead `slot` from the index, if it still has this `generation` */
	SLOT_RELEASE,   /* return the retired `slot` to the free ones, if it still has this `generation` */
};

struct slot_request {
	u32 kind;
	u32 slot;
	u64 cgroup_id;
	u64 parent_id;
	u32 generation;
	s32 result; /* out: slot number for SLOT_ADOPT, else 0; or -errno */
	char name[CGROUP_NAME_MAX];
};

_Static_assert(sizeof(struct slot_request) == 288, "crosses the kernel boundary");

/* Context of the inject program. The samples of one call lie in the map `injected`. */
#define INJECT_MAX 1024

struct inject_request {
	u32 count; /* at most INJECT_MAX */
	u32 done;  /* out: number of samples that were processed */
};

#endif
