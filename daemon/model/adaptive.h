// SPDX-License-Identifier: GPL-2.0
/*
 * Adaptive PEBS records (0100b, Ice Lake). After a basic group that every record has, a record contains the
 * groups that MSR_PEBS_DATA_CFG selects, in the order of its bits. The first word of a record repeats the
 * selection and gives the record's size (manual, "PEBS Record Format" of adaptive PEBS; struct pebs_basic,
 * pebs_meminfo, pebs_gprs, pebs_xmm in arch/x86/include/asm/perf_event.h, Linux 6.1 and 6.12).
 */
#ifndef PEBSD_MODEL_ADAPTIVE_H
#define PEBSD_MODEL_ADAPTIVE_H

#include "record.h"

/* MSR_PEBS_DATA_CFG. */
#define DATA_CFG_MEMORY        (1ULL << 0)
#define DATA_CFG_REGISTERS     (1ULL << 1)
#define DATA_CFG_XMM           (1ULL << 2)
#define DATA_CFG_BRANCHES      (1ULL << 3)
#define DATA_CFG_GROUPS        0xfULL
#define DATA_CFG_ENTRIES_SHIFT 24 /* bits 31:24, branch entries minus 1 */
#define DATA_CFG_ENTRIES       (0xffULL << DATA_CFG_ENTRIES_SHIFT)
#define DATA_CFG_BRANCHES_MAX  32

/* Returns the number of branch entries of a record: 1 to 32, or 0 without DATA_CFG_BRANCHES. */
u32 adaptive_branches(u64 data_cfg);

/* Same as record_size(), record_write() and record_read(), which call these. */
u32 adaptive_size(u64 data_cfg);
void adaptive_write(u64 data_cfg, const struct record *record, u8 *bytes);
int adaptive_read(const u8 *bytes, u32 size, struct record *ret, u32 *ret_size);

#endif
