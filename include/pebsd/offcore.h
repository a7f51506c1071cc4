// SPDX-License-Identifier: GPL-2.0
/*
 * Records of events that are counted instead of sampled. Their counters run on each CPU, and are read when
 * the CPU switches from a task of one cgroup to a task of another. BPF writes the records, the daemon reads
 * them through mmap(2).
 *
 * A record belongs to one CPU and slot, and only that CPU writes it. No two records share a cache line, and no
 * access needs to be atomic. Index in the block of a slot (records.h): CPU x slots of a block + slot in it.
 */
#ifndef PEBSD_RECORDS_OFFCORE_H
#define PEBSD_RECORDS_OFFCORE_H

#include "types.h"

/* The off-core responses that are counted instead of sampled. */
enum offcore_kind {
	OFFCORE_L3,          /* demand reads that the L3 served */
	OFFCORE_LOCAL_DRAM,  /* demand reads that the memory of this node served */
	OFFCORE_REMOTE_DRAM, /* demand reads that another node's memory or caches served */
	OFFCORE_OUTSTANDING, /* cycles x requests in flight: bit 38 (manual, 18.6.3), in MSR_OFFCORE_RSP_0 */
	OFFCORE_REQUESTS,    /* number of requests that OFFCORE_OUTSTANDING measures, on another counter */
	OFFCORE_KINDS,
};

/* Maximum number of counters on a CPU. */
#define OFFCORE_COUNTERS OFFCORE_KINDS

/* Maximum number of core PMUs of a machine that have such counters. */
#define OFFCORE_PMUS_MAX 4U

/* The value of one counter, as perf returns it (struct bpf_perf_event_value). */
struct offcore_count {
	u64 count;
	u64 enabled_ns;
	u64 running_ns; /* less than enabled_ns if the kernel multiplexes the counters */
};

/* The counts of one slot on one CPU. They only grow; `settles` is written last. */
struct offcore_record {
	u64 settles; /* number of times that counts were added */
	struct offcore_count counts[OFFCORE_COUNTERS];
	u64 errors[OFFCORE_COUNTERS]; /* intervals that are not counted because a reading failed */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct offcore_record) == 192, "three cache lines");

/* One of this many settled switches is timed. */
#define OFFCORE_TIMED_EVERY 64

struct offcore_cpu {
	/*
	 * Written by the daemon. While the generation is odd, the counters are being exchanged and nothing is
	 * read. A different even generation means new counters: their first reading is the base and is
	 * charged to no cgroup.
	 */
	u32 generation;
	u32 counters; /* a bit for each counter that is open on this CPU */
	u8 reserved[56];

	/* Written by the BPF program. */
	u32 known_generation;
	u32 based; /* a bit for each counter whose last reading is in `last` */
	struct offcore_count last[OFFCORE_COUNTERS];
	u64 errors[OFFCORE_COUNTERS]; /* readings that failed, or returned a lower value than the last one */
	u64 switches;                 /* switches of tasks, settled or not */
	u64 settles;  /* readings of all counters: at switches between cgroups, and at collections */
	u64 timed;    /* settled switches that were timed */
	u64 timed_ns; /* total duration of the timed switches */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct offcore_cpu) == 320, "crosses the kernel boundary");

#endif
