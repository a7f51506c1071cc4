// SPDX-License-Identifier: GPL-2.0
/* One sample as pebsd sees it, from any origin, and what is known about the event that produced it. */
#ifndef PEBSD_SAMPLE_H
#define PEBSD_SAMPLE_H

#include "types.h"

/* The fields of a sample that hold a measurement. A field without its bit means nothing and is ignored. */
enum sample_field {
	SAMPLE_LATENCY = 1 << 0,
	SAMPLE_INSTRUCTION_LATENCY = 1 << 1,
	SAMPLE_DATA_SOURCE = 1 << 2,
	SAMPLE_ADDRESS = 1 << 3,
	SAMPLE_CODE_ADDRESS = 1 << 4,
};

struct sample {
	u64 cgroup_id;           /* id in the default hierarchy; a replay or the model uses its own numbers */
	u64 latency;             /* core cycles; above SAMPLE_LATENCY_MAX the sample is malformed */
	u64 data_source;         /* union perf_mem_data_src */
	u64 address;             /* data linear address */
	u64 code_address;        /* instruction pointer */
	u64 period;              /* the sample's weight; 0 if a recording does not have it */
	u32 instruction_latency; /* core cycles, dispatch to retirement */
	u16 event;               /* index of the sample's event, below EVENTS_MAX */
	u16 fields;              /* enum sample_field */
};

_Static_assert(sizeof(struct sample) == 56, "crosses the kernel boundary");

/* PEBS reports at most 32 bits (union perf_sample_weight, var1_dw); a larger value is not a latency. */
#define SAMPLE_LATENCY_MAX 0xffffffffULL

/*
 * Bounds of the factors of latency x period: a larger factor counts as its bound. A product stays below 2^54, so
 * that a 64-bit sum can take 1,024 of the largest products between two readings. Real samples cannot overflow it:
 * no machine's memory serves that many accesses.
 */
#define SAMPLE_WEIGHTED_LATENCY_MAX ((1U << 22) - 1)
#define SAMPLE_WEIGHTED_PERIOD_MAX  0xffffffffULL

/*
 * Maximum number of sampled events of one daemon. No known machine needs more than three roles on four core PMUs.
 */
#define EVENTS_MAX 12

/*
 * The values that an opened or recorded event is known to measure. Adaptive PEBS fills in a weight for any
 * event, and before Sapphire Rapids the weight of a store is not a latency. So a field is ignored unless it is
 * enabled here, even if the sample's own flags have it (arch/x86/events/intel/ds.c, Linux 6.1).
 */
struct event_settings {
	u8 has_latency;
	u8 has_instruction_latency;
	u8 has_source;
	u8 has_address;
	u8 weight_struct; /* opened with PERF_SAMPLE_WEIGHT_STRUCT, not PERF_SAMPLE_WEIGHT */
	u8 has_code_address;
	/*
	 * Mask of PERF_MEM_OP_*: a sample whose data source has none of these bits is counted as `filtered`.
	 * 0 accepts all. Used for IBS, which samples operations of every kind (arch/x86/events/amd/ibs.c,
	 * Linux 6.1).
	 */
	u8 operations;
	u8 reserved;
	u32 first_record; /* index of the event's first record in a block of its kind (records.h) */
};

_Static_assert(sizeof(struct event_settings) == 12, "crosses the kernel boundary");

#endif
