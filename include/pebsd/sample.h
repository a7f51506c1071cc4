// SPDX-License-Identifier: GPL-2.0
/* One sample as pebsd sees it, wherever it came from, and what is known of the event that made it. */
#ifndef PEBSD_SAMPLE_H
#define PEBSD_SAMPLE_H

#include "types.h"

/* Which fields of a sample hold a measurement. A field without its bit is 0 and means nothing. */
enum sample_field {
	SAMPLE_LATENCY = 1 << 0,
	SAMPLE_INSTRUCTION_LATENCY = 1 << 1,
	SAMPLE_DATA_SOURCE = 1 << 2,
	SAMPLE_ADDRESS = 1 << 3,
	SAMPLE_CODE_ADDRESS = 1 << 4,
};

struct sample {
	u64 cgroup_id;           /* id in the default hierarchy; a replay's or the model's own numbering */
	u64 latency;             /* core cycles; above SAMPLE_LATENCY_MAX the sample is malformed */
	u64 data_source;         /* union perf_mem_data_src */
	u64 address;             /* data linear address */
	u64 code_address;        /* instruction pointer */
	u64 period;              /* the sample's weight; 0 where a recording does not tell */
	u32 instruction_latency; /* core cycles, dispatch to retirement */
	u16 event;               /* index of its event, below EVENTS_MAX */
	u16 fields;              /* enum sample_field */
};

_Static_assert(sizeof(struct sample) == 56, "crosses the kernel boundary");

/* PEBS reports at most 32 bits (struct perf_sample_weight, var1_dw); more is no latency. */
#define SAMPLE_LATENCY_MAX 0xffffffffULL

/*
 * Bounds of the factors of latency x period. A product stays below 2^54, so that a 64-bit sum can take 1,024
 * of the worst samples between two readings, and more than the memory of any machine can serve of real ones.
 */
#define SAMPLE_WEIGHED_LATENCY_MAX ((1U << 22) - 1)
#define SAMPLE_WEIGHED_PERIOD_MAX  0xffffffffULL

/* Sampled events of one daemon: three roles on up to four core PMUs is more than any machine has had. */
#define EVENTS_MAX 12

/*
 * What an opened (or recorded) event is known to measure. Adaptive PEBS fills a weight for any event, and a
 * store's weight before Sapphire Rapids is no latency: without its mark here a field is not taken from a
 * sample, whatever the sample's own flags say (arch/x86/events/intel/ds.c, Linux 6.1).
 */
struct event_settings {
	u8 has_latency;
	u8 has_instruction_latency;
	u8 has_source;
	u8 has_address;
	u8 weight_struct; /* PERF_SAMPLE_WEIGHT_STRUCT was asked for, not PERF_SAMPLE_WEIGHT */
	u8 has_code_address;
	/*
	 * PERF_MEM_OP_* bits of which a sample's data source must have one, else it is `filtered`; 0: all are
	 * taken. For IBS, which samples operations of every kind (arch/x86/events/amd/ibs.c, Linux 6.1).
	 */
	u8 operations;
	u8 reserved;
	u32 first_record; /* index of its first record in a block of its kind (records.h) */
};

_Static_assert(sizeof(struct event_settings) == 12, "crosses the kernel boundary");

#endif
