// SPDX-License-Identifier: GPL-2.0
/*
 * The records of the BPF maps. BPF writes them, the daemon reads them through mmap(2).
 *
 * Counters only grow, and nothing resets them while a cgroup has the slot: a reader takes differences. Those
 * of 32 bits may wrap; the difference of two readings is taken modulo 2^32, sums modulo 2^64. A slot's
 * records are cleared by the daemon while it rests, when no program can find it any more: each cgroup begins
 * at zero.
 */
#ifndef PEBSD_RECORDS_H
#define PEBSD_RECORDS_H

#include "decode_tables.h"
#include "histogram.h"
#include "hot.h"
#include "sample.h"

/* A counter for each of the access flags: by its name, or by its place in their table. */
#define RECORD_FLAG_(name, ...) u32 name;
#define RECORD_FLAGS                               \
	union {                                    \
		struct {                           \
			ACCESS_FLAGS(RECORD_FLAG_) \
		};                                 \
		u32 flags[FLAG_COUNT];             \
	}

/* One slot, stripe and event without latency. */
struct plain_record {
	u64 weight[SOURCE_SLOTS];  /* sum of periods, by source */
	u32 samples[SOURCE_SLOTS]; /* by source */
	u32 snoop[SNOOP_SLOTS];
	u32 tlb[TLB_SLOTS];
	RECORD_FLAGS;
} __attribute__((aligned(64)));

/* What is added up of one source's samples. */
struct source_sums {
	u64 weight;           /* sum of periods */
	u64 latency;          /* cycles */
	u64 weighted_latency; /* sum of latency x period */
};

/*
 * One slot, stripe and event with latency. What a sample writes lies together: the sums of its source, its
 * source's octave, its fine bucket, snoop and TLB result: a cache line each. Its sample is counted in
 * `source_latency` or in `without_latency`, whose sum therefore is the source's samples.
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

_Static_assert(sizeof(struct plain_record) == 320, "at most 512 bytes");
_Static_assert(sizeof(struct latency_record) == 2560, "at most 2.5 KiB");

/*
 * Marks: a byte for each event, stripe and slot, in that order, and a last row for the slots' owners. A
 * program sets its record's mark after it has written to it, and an owner's after it changed: a reader clears
 * a mark before it reads, and reads nothing without one. Rows are as long as the slots, rounded up to
 * MARKS_LINE.
 */
#define MARKS_LINE 64

static inline u32 marks_row(u32 slots)
{
	return (slots + MARKS_LINE - 1) / MARKS_LINE * MARKS_LINE;
}

/* What a CPU has of its own; one cache line each, and one more for the inject program. */
struct cpu_state {
	u64 cgroup_id; /* the last sample's */
	u32 slot;      /* its slot, while `epoch` is that of the index */
	u32 epoch;
	u32 stripe;       /* set by the daemon before there are samples */
	u32 runs;         /* of the perf_event programs; one in 1 << timed_log2 is timed */
	u64 timed;        /* runs that were timed */
	u64 timed_ns;     /* what they took together, without the clock's own time */
	u32 first_record; /* of its stripe, among those of an event; this and below as `stripe` */
	u32 first_marks;  /* line of its stripe, among those of an event */
	u32 timed_mask;   /* a run is timed if its number has none of these bits */
	u32 reserved;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct cpu_state) == 64, "one cache line");

/* Slot 0 takes the samples of cgroups that have no slot of their own. */
#define SLOT_UNATTRIBUTED 0

/* Slots of a table, at most; a power of two. */
#define SLOTS_MAX 65536

/*
 * Records and owners of slots lie in blocks of this many slots, each of maps of its own, which are added while
 * samples come: nothing that is there moves. A table that does not grow is one block, of any size.
 */
#define SLOT_BLOCK_LOG2 8
#define SLOT_BLOCK      (1U << SLOT_BLOCK_LOG2)
#define SLOT_BLOCKS_MAX (SLOTS_MAX / SLOT_BLOCK)

/* The maps of a block. In each lie, for the event (of the kind, from its first record on) or the CPU, then for
 * the stripe, the slots of the block. */
enum slot_block_kind {
	BLOCK_LATENCY,
	BLOCK_PLAIN,
	BLOCK_OWNERS,
	BLOCK_OFFCORE,
	BLOCK_KINDS,
};

/* Stripes of a slot, at most; which CPU writes to which: daemon/kernel/stripes.h. */
#define STRIPES_MAX 16

enum slot_state {
	SLOT_FREE,    /* nobody's */
	SLOT_ALIVE,   /* its cgroup exists */
	SLOT_DEAD,    /* its cgroup is removed; tasks on their way out may still be counted here */
	SLOT_RETIRED, /* the index no longer leads here; what was under way may still arrive */
};

#define CGROUP_NAME_MAX 256 /* a directory name and its NUL: NAME_MAX + 1 */

/* Who has a slot. Written by BPF; `state` is written last. */
struct slot_owner {
	u64 cgroup_id;
	u64 parent_id;              /* 0 for the root */
	u64 died_ns;                /* CLOCK_MONOTONIC, 0 while alive */
	u32 generation;             /* grows each time the slot is taken or given back */
	u32 state;                  /* enum slot_state */
	char name[CGROUP_NAME_MAX]; /* one path component, empty for the root */
	u32 next_free;              /* while free: the next free slot, SLOT_UNATTRIBUTED for none */
	u8 reserved[28];
};

_Static_assert(sizeof(struct slot_owner) == 320, "crosses the kernel boundary");

/* What a stripe of an event lost, by name; one cache line each. */
struct loss_record {
	u64 malformed; /* a latency above SAMPLE_LATENCY_MAX, or an event number that does not exist */
	u64 filtered;  /* no loss: samples of operations that the event is not about (event_settings) */
	u64 reserved[6];
};

_Static_assert(sizeof(struct loss_record) == 64, "one cache line");

/* How slots came and went. */
struct slot_counters {
	u64 births;
	u64 deaths;
	u64 births_without_slot; /* the table was full: the cgroup's samples are unattributed */
	u64 names_unread;        /* the kernel did not let the name be read */
};

/* Free slots that a table of `slots` should have: a quarter, at least one. With fewer of them slots are short. */
static inline u32 slots_spare(u32 slots)
{
	return slots < 4 ? 1 : slots / 4;
}

/* What user space asks of the slot table; each is done inside BPF, never by a map system call. */
enum slot_request_kind {
	SLOT_ADOPT,  /* give `cgroup_id` a slot; an existing one is kept */
	SLOT_BURY,   /* `cgroup_id` was gone before its adoption ended: mark its slot dead */
	SLOT_RETIRE, /* take `slot`, dead, out of the index, if `generation` is still its */
	SLOT_GIVE,   /* hand `slot`, retired, back to the free ones, if `generation` is still its */
};

struct slot_request {
	u32 kind;
	u32 slot;
	u64 cgroup_id;
	u64 parent_id;
	u32 generation;
	s32 result; /* out: slot number for SLOT_ADOPT, else 0; -errno */
	char name[CGROUP_NAME_MAX];
};

_Static_assert(sizeof(struct slot_request) == 288, "crosses the kernel boundary");

/* Samples of one call of the inject program lie in the map `injected`; this is its context. */
#define INJECT_MAX 1024

struct inject_request {
	u32 count; /* at most INJECT_MAX */
	u32 done;  /* out */
};

#endif
