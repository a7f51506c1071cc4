// SPDX-License-Identifier: GPL-2.0
/*
 * PEBS records (manual 18.8.1.1). Tables in record.c have the layouts, for both writing and reading. The
 * adaptive format's layout is computed from MSR_PEBS_DATA_CFG (adaptive.h). The layouts are from
 * the manual: table 18-23 (Nehalem), table 18-34 with 18.9.4.3 (precise store), 18.7.1 (Skylake, Goldmont),
 * 18.11.2 (Haswell), and the part of chapter 18 on adaptive PEBS (Ice Lake).
 */
#ifndef PEBSD_MODEL_RECORD_H
#define PEBSD_MODEL_RECORD_H

#include "machine.h"
#include "retired.h"

/*
 * Offsets and meanings:
 * - GLOBAL_STATUS (90H): since PEBS format 0011b, the applicable counters.
 * - ADDRESS (98H): data linear address.
 * - SOURCE (A0H): data source encoding, or a store's status.
 * - LATENCY (A8H): core clock cycles.
 * - EVENTING_IP (B0H), TSX (B8H), TSC (C0H).
 * - RETIRE_LATENCY: in the first word of an adaptive record.
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

/* No record is longer: an adaptive one with all groups and 32 branch entries has 1232 bytes. */
#define RECORD_SIZE_MAX 1280

/*
 * Returns the bytes of a record. `data_cfg` is MSR_PEBS_DATA_CFG and only used for the adaptive format. More
 * than 32 branch entries count as 32.
 */
u32 record_size(enum record_format format, u64 data_cfg);

/*
 * Writes record_size() bytes. Leaves out fields that the format does not have. A field of the format that
 * `record` does not have becomes 0.
 */
void record_write(enum record_format format, u64 data_cfg, const struct record *record, void *bytes);

/*
 * Reads a record of at most `size` bytes. An adaptive record contains its own layout and size. Sets `*ret_size` to
 * the record's size, or to 0 on failure. Returns 0, or -EINVAL if the record is longer than `size` or is not a
 * valid adaptive record.
 */
int record_read(enum record_format format, const void *bytes, u32 size, struct record *ret, u32 *ret_size);

#endif
