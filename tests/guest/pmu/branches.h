/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Last branch records of one emulated CPU in call-stack mode (LBR_SELECT.EN_CALLSTACK): a call adds a record,
 * and a return takes one away. That is what a profiler takes for call stacks (manual volume 3B, 17.11).
 * Filters by privilege are heeded.
 *
 * In other modes nothing is recorded: without every branch, Linux' search for the instruction before a PEBS
 * record's address would go through thousands of instructions (intel_pmu_pebs_fixup_ip() in
 * arch/x86/events/intel/ds.c, before Haswell).
 */
#ifndef PMU_BRANCHES_H
#define PMU_BRANCHES_H

#include <stdbool.h>

#include "pebsd/types.h"

#define BRANCHES_MOST 32

struct branches {
	unsigned int depth; /* records: 16 or 32 */
	bool has_info;      /* MSR_LBR_INFO_x: from Skylake on */
	u64 control, select, top;
	u64 from[BRANCHES_MOST], to[BRANCHES_MOST], info[BRANCHES_MOST];
};

/* Whether the register is one of these. */
bool branches_has_msr(const struct branches *branches, u32 msr);
void branches_write(struct branches *branches, u32 msr, u64 value);
u64 branches_read(const struct branches *branches, u32 msr);

/* Whether branches are recorded, as programmed now. */
bool branches_wanted(const struct branches *branches);

/* A call, with where it leads, or a return was executed. True: the call has a record. */
bool branches_call(struct branches *branches, u64 from, u64 to);
void branches_return(struct branches *branches, u64 from);

/* The recorded call leads there: an indirect one's end is known only after it. False: an interrupt came first. */
bool branches_arrived(struct branches *branches, u64 to);

/* An interrupt of the PMU is raised: recording ends where software asked for that. */
void branches_freeze(struct branches *branches);

#endif
