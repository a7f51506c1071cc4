// SPDX-License-Identifier: GPL-2.0
/*
 * NetBurst's at-retirement counting (manual 18.18.7). A micro-operation is tagged upstream. When it retires,
 * it is counted downstream if it has the tag. There are three mechanisms: execution tagging (18.18.7.3),
 * front end tagging (18.18.7.2) and replay tagging (18.18.7.4). Event numbers and metrics: tables A-10 and
 * A-14, and arch/x86/include/asm/perf_event_p4.h, arch/x86/events/intel/p4.c, Linux 6.1.
 */
#ifndef PEBSD_MODEL_NETBURST_TAGS_H
#define PEBSD_MODEL_NETBURST_TAGS_H

#include "retired.h"

/* ESCRs. */
#define ESCR_T0_USR       (1ULL << 2)
#define ESCR_T0_OS        (1ULL << 3)
#define ESCR_TAG_ENABLE   (1ULL << 4)
#define ESCR_TAG_VALUE(n) ((u64)(n) << 5) /* bits 8:5: each bit is a separate tag */
#define ESCR_MASK(bits)   ((u64)(bits) << 9)
#define ESCR_EVENT(n)     ((u64)(n) << 25)

/* Event select and event mask bits of the downstream events. */
enum {
	EVENT_FRONT_END = 0x08,
	EVENT_REPLAY = 0x09,
	EVENT_EXECUTION = 0x0c,
};
#define MASK_NBOGUS           (1 << 0) /* front end, replay */
#define MASK_BOGUS            (1 << 1)
#define MASK_EXECUTION_NBOGUS 0x0f /* NBOGUS0 to NBOGUS3 */
#define MASK_EXECUTION_BOGUS  0xf0 /* BOGUS0 to BOGUS3 */

/* Upstream: the kind of execution that an ESCR of the FIRM pair tags. Each needs event mask bit 15 (ALL). */
enum execution {
	EXECUTION_NONE = 0,
	EXECUTION_MMX_64 = 0x02,
	EXECUTION_X87 = 0x04,
	EXECUTION_PACKED_SP = 0x08,
	EXECUTION_SCALAR_SP = 0x0a,
	EXECUTION_PACKED_DP = 0x0c,
	EXECUTION_SCALAR_DP = 0x0e,
	EXECUTION_MMX_128 = 0x1a,
};
#define MASK_EXECUTION_ALL (1 << 15)

/* Upstream: the operations that an ESCR of the RAT pair tags for the front end event. */
#define EVENT_UOP_TYPE  0x02
#define MASK_TAG_LOADS  (1 << 1)
#define MASK_TAG_STORES (1 << 2)

/* IA32_PEBS_ENABLE: metrics of replay tagging in bits 12:0, and 16:15 for mispredicted branches. */
#define METRIC_FIRST_LEVEL_MISS  (1ULL << 0)
#define METRIC_SECOND_LEVEL_MISS (1ULL << 1)
#define METRIC_DTLB_MISS         (1ULL << 2)
#define METRICS                  0x19fffULL
#define NETBURST_UOP_TAG         (1ULL << 24)
#define NETBURST_ENABLE_PEBS     (1ULL << 25) /* for this logical processor */

/* MSR_PEBS_MATRIX_VERT: the micro-operations that can be tagged for replay. */
#define VERT_LOADS    (1ULL << 0)
#define VERT_STORES   (1ULL << 1)
#define VERT_BRANCHES (1ULL << 4)

/* One micro-operation, with the architectural state after it. */
struct netburst_uop {
	struct retired retired;
	u64 flags;                        /* EFLAGS */
	u64 registers[RETIRED_REGISTERS]; /* AX BX CX DX SI DI BP SP R8 to R15 */
	u8 execution;                     /* enum execution */
	bool bogus;                       /* cancelled, because it is on a mispredicted path */
	bool kernel;                      /* CPL 0 */
};

struct netburst_tagging {
	u64 firm[2]; /* MSR_FIRM_ESCR0, 1 */
	u64 rat[2];  /* MSR_RAT_ESCR0, 1 */
	u64 pebs_enable, matrix_vert;
};

struct netburst_tags {
	u8 execution; /* the four tag bits */
	bool front_end;
	bool replay;
};

/*
 * Determines the tags of the micro-operation. The model has no branches, split accesses or blocked accesses:
 * their metrics never tag.
 */
void netburst_tag(const struct netburst_tagging *tagging, const struct netburst_uop *uop,
		  struct netburst_tags *ret);

/* Returns whether a downstream ESCR counts the micro-operation. */
bool netburst_counts(u64 escr, const struct netburst_tags *tags, const struct netburst_uop *uop);

#endif
