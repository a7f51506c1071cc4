/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Last branch records of one emulated CPU in call-stack mode (LBR_SELECT.EN_CALLSTACK): a call adds a record,
 * and a return removes one. Profilers use these records as call stacks (manual volume 3B, 17.11). Filters by
 * privilege are applied.
 *
 * In other modes nothing is recorded, because not every branch is emulated. With incomplete records, Linux's
 * search for the instruction before a PEBS record's address would go through thousands of instructions
 * (intel_pmu_pebs_fixup_ip() in arch/x86/events/intel/ds.c, before Haswell).
 */
#ifndef PMU_BRANCHES_H
#define PMU_BRANCHES_H

#include <stdbool.h>

#include "pebsd/types.h"

#define BRANCHES_MOST 32

struct branches {
	unsigned int depth; /* number of records: 16 or 32 */
	bool has_info;      /* MSR_LBR_INFO_x: from Skylake on */
	u64 control, select, top;
	u64 from[BRANCHES_MOST], to[BRANCHES_MOST], info[BRANCHES_MOST];
};

/* Returns whether `msr` is one of these registers. */
bool branches_has_msr(const struct branches *branches, u32 msr);
void branches_write(struct branches *branches, u32 msr, u64 value);
u64 branches_read(const struct branches *branches, u32 msr);

/* Returns whether branches are recorded with the current settings. */
bool branches_wanted(const struct branches *branches);

/* A call or a return was executed. `to` is the target of the call. Returns true if the call has a record. */
bool branches_call(struct branches *branches, u64 from, u64 to);
void branches_return(struct branches *branches, u64 from);

/*
 * Sets the target of the recorded call: the target of an indirect call is known only after it. Returns false, and
 * changes nothing, if the call is in user space and `to` in the kernel or the reverse: an interrupt came first.
 */
bool branches_arrived(struct branches *branches, u64 to);

/* The PMU raises an interrupt: stops recording if software asked for that. */
void branches_freeze(struct branches *branches);

#endif
