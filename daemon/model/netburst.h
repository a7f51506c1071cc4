// SPDX-License-Identifier: GPL-2.0
/*
 * NetBurst's precise event-based sampling (manual 18.18.8) with its at-retirement events (netburst_tags.h).
 * The model has the six counters of the instruction queue with their CCCRs. Only MSR_IQ_COUNTER4 has PEBS.
 *
 * When that counter overflows, the state after the micro-operation is written to the PEBS buffer of the DS
 * area, and the counter is reloaded from the area's reset field. An interrupt is raised at the interrupt
 * threshold. The buffer is not circular: when it is full, nothing is written until software sets the index
 * back.
 */
#ifndef PEBSD_MODEL_NETBURST_H
#define PEBSD_MODEL_NETBURST_H

#include "ds_area.h"
#include "netburst_tags.h"
#include "record.h"

enum netburst_msr {
	MSR_IQ_COUNTER0 = 0x30c, /* to MSR_IQ_COUNTER5; 40 bits */
	MSR_IQ_COUNTER4 = 0x310,
	MSR_IQ_CCCR0 = 0x36c, /* to MSR_IQ_CCCR5 */
	MSR_IQ_CCCR4 = 0x370,
	MSR_FIRM_ESCR0 = 0x3a4,
	MSR_RAT_ESCR0 = 0x3bc,
	MSR_CRU_ESCR2 = 0x3cc, /* for counters 0, 1 and 4 */
	MSR_CRU_ESCR3 = 0x3cd, /* for counters 2, 3 and 5 */
	MSR_NETBURST_PEBS_ENABLE = 0x3f1,
	MSR_NETBURST_PEBS_MATRIX_VERT = 0x3f2,
	MSR_NETBURST_DS_AREA = 0x600,
};

/* CCCRs. Comparison, edge detection and cascading are not modelled: such values are rejected. */
#define CCCR_ENABLE         (1ULL << 12)
#define CCCR_ESCR_SELECT(n) ((u64)(n) << 13)
#define CCCR_THREAD_ANY     (3ULL << 16) /* both bits must be set without hyper-threading */
#define CCCR_FORCE_OVF      (1ULL << 25) /* every count overflows */
#define CCCR_OVF_PMI        (1ULL << 26)
#define CCCR_OVF            (1ULL << 31) /* stays set until software clears it */

/* The ESCR select value in a CCCR for MSR_CRU_ESCR2 and 3. */
#define NETBURST_SELECT_CRU 5

#define NETBURST_COUNTERS     6
#define NETBURST_PEBS_COUNTER 4
#define NETBURST_COUNTER_BITS 40

/* The interrupts, in the order in which they are raised. */
enum netburst_interrupt { NETBURST_BUFFER = 1 << 0, NETBURST_OVERFLOW = 1 << 1 };

struct netburst {
	const struct machine *machine;
	struct linear_memory memory;
	struct netburst_tagging tagging;
	u64 cru[2]; /* MSR_CRU_ESCR2, 3 */
	u64 counts[NETBURST_COUNTERS];
	u64 cccrs[NETBURST_COUNTERS];
	u64 ds_area;
	u8 pending;      /* enum netburst_interrupt */
	u64 records;     /* written */
	u64 not_written; /* overflows without a record: no space, or no area */
};

/*
 * Sets all registers to 0. The machine's format must be RECORD_NETBURST_32 or RECORD_CORE. The caller keeps
 * the machine and the memory's bytes.
 */
void netburst_open(struct netburst *netburst, const struct machine *machine, struct linear_memory memory);

/*
 * WRMSR and RDMSR. Return -EINVAL for an unknown register, or for bits that are reserved or not modelled.
 * Counters keep 40 bits.
 */
int netburst_write(struct netburst *netburst, u32 msr, u64 value);
int netburst_read(const struct netburst *netburst, u32 msr, u64 *ret);

/* Retires one micro-operation. Returns whether interrupts are pending. */
bool netburst_retire(struct netburst *netburst, const struct netburst_uop *uop);

/*
 * Returns the next pending interrupt; 0: none. Software finds its cause in the OVF flags of the CCCRs and in
 * the index of the DS area.
 */
u8 netburst_take_interrupt(struct netburst *netburst);

#endif
