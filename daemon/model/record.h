// SPDX-License-Identifier: GPL-2.0
/*
 * PEBS records (manual 18.8.1.1). A format's layout stands in one table (record.c), from which records are
 * written and read; the adaptive format's is worked out from MSR_PEBS_DATA_CFG (adaptive.h). Manual tables
 * 18-23 (Nehalem), 18-34 (precise store, 18.9.4.3), 18.7.1 (Skylake, Goldmont), 18.11.2 (Haswell), chapter
 * 18's adaptive PEBS (Ice Lake).
 */
#ifndef PEBSD_MODEL_RECORD_H
#define PEBSD_MODEL_RECORD_H

#include "machine.h"
#include "retired.h"

/*
 * GLOBAL_STATUS is at 90H, from 0011b on the applicable counters; ADDRESS (98H) the data linear address;
 * SOURCE (A0H) the data source encoding, or a store's status; LATENCY (A8H) in core clock cycles; EVENTING_IP
 * at B0H, TSX at B8H, TSC at C0H. RETIRE_LATENCY stands in an adaptive record's first word.
 */
#define RECORD_FIELDS(X) \
	X(FLAGS)         \
	X(IP)            \
	X(AX)            \
	X(BX)            \
	X(CX)            \
	X(DX)            \
	X(SI)            \
	X(DI)            \
	X(BP)            \
	X(SP)            \
	X(R8)            \
	X(R9)            \
	X(R10)           \
	X(R11)           \
	X(R12)           \
	X(R13)           \
	X(R14)           \
	X(R15)           \
	X(GLOBAL_STATUS) \
	X(ADDRESS)       \
	X(SOURCE)        \
	X(LATENCY)       \
	X(EVENTING_IP)   \
	X(TSX)           \
	X(TSC)           \
	X(RETIRE_LATENCY)

#define RECORD_ENUM_(name) RECORD_##name,
enum record_field { RECORD_FIELDS(RECORD_ENUM_) RECORD_FIELD_COUNT };
#undef RECORD_ENUM_

struct record {
	u32 present; /* bits: enum record_field */
	u64 values[RECORD_FIELD_COUNT];
};

/* Adaptive records are no longer than this: all groups with 32 branch entries. */
#define RECORD_SIZE_MAX 1280

/* Bytes of a record. `data_cfg` is MSR_PEBS_DATA_CFG, of the adaptive format alone; more branch entries than
 * 32 count as 32. */
u32 record_size(enum record_format format, u64 data_cfg);

/* Writes record_size() bytes: fields that the format does not have are left out, those not present are 0. */
void record_write(enum record_format format, u64 data_cfg, const struct record *record, void *bytes);

/*
 * Reads a record of at most `size` bytes; an adaptive one tells its own format and size. Sets `ret_size`, 0
 * on failure. Returns 0, or -EINVAL where it is longer than `size` or, adaptive, not a record.
 */
int record_read(enum record_format format, const void *bytes, u32 size, struct record *ret, u32 *ret_size);

#endif
