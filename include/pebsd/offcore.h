// SPDX-License-Identifier: GPL-2.0
/*
 * The records of what is counted, not sampled: counters that run on each CPU and are read where one cgroup's
 * task makes room for another's. BPF writes the records, the daemon reads them through mmap(2).
 *
 * A record belongs to one CPU and slot, and only that CPU writes it: no two share a cache line, and nothing
 * needs to be atomic. Index in the block of a slot (records.h): CPU x slots of a block + slot in it.
 */
#ifndef PEBSD_RECORDS_OFFCORE_H
#define PEBSD_RECORDS_OFFCORE_H

#include "types.h"

/* What is counted, not sampled, of off-core responses. */
enum offcore_kind {
	OFFCORE_L3,          /* demand reads that the L3 served */
	OFFCORE_LOCAL_DRAM,  /* that the memory of this node did */
	OFFCORE_REMOTE_DRAM, /* that another node's memory or caches did */
	OFFCORE_OUTSTANDING, /* cycles x requests in flight: bit 38 (manual, 18.6.3), in MSR_OFFCORE_RSP_0 */
	OFFCORE_REQUESTS,    /* the requests that OFFCORE_OUTSTANDING is about, on the other counter */
	OFFCORE_KINDS,
};

/* Counters of a CPU, at most. */
#define OFFCORE_COUNTERS OFFCORE_KINDS

/* Core PMUs of a machine that have such counters, at most. */
#define OFFCORE_PMUS_MAX 4U

/* Of one counter, as perf counts (struct bpf_perf_event_value). */
struct offcore_count {
	u64 count;
	u64 enabled_ns;
	u64 running_ns; /* less than enabled where counters are too few and take turns */
};

/* What the tasks of a slot's cgroup did on one CPU. Grows only; `settles` is written last. */
struct offcore_record {
	u64 settles; /* how often something was added */
	struct offcore_count counts[OFFCORE_COUNTERS];
	u64 errors[OFFCORE_COUNTERS]; /* shares of this cgroup that a failed reading lost */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct offcore_record) == 192, "three cache lines");

/* A switch in so many that is settled is timed. */
#define OFFCORE_TIMED_EVERY 64

struct offcore_cpu {
	/*
	 * The daemon's. An odd generation: the counters change hands, and nothing is read; another even one
	 * than before: they are new, and begin with a reading that nobody is charged for.
	 */
	u32 generation;
	u32 counters; /* a bit for each that is open on this CPU */
	u8 reserved[56];

	/* The program's. */
	u32 known_generation;
	u32 based; /* a bit for each whose last reading is in `last` */
	struct offcore_count last[OFFCORE_COUNTERS];
	u64 errors[OFFCORE_COUNTERS]; /* readings that failed */
	u64 switches;                 /* of tasks, settled or not */
	u64 settles;  /* readings of all counters: switches between cgroups, and collections */
	u64 timed;    /* settled switches that were timed */
	u64 timed_ns; /* what they took */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct offcore_cpu) == 320, "crosses the kernel boundary");

#endif
