// SPDX-License-Identifier: GPL-2.0
/*
 * The evaluation of a PEBS buffer by a driver: the counter that each record belongs to, and the order of
 * delivery. The rules are those of intel_pmu_drain_pebs_core(), _nhm() and _icl() in
 * arch/x86/events/intel/ds.c (Linux 6.1, 6.12, 7.3).
 */
#ifndef PEBSD_MODEL_DRAIN_H
#define PEBSD_MODEL_DRAIN_H

#include "record.h"

/*
 * Counter numbers: general-purpose counters have 0 to 7, fixed ones 32 to 35. In formats without a status, the
 * number is 0. It stands for the only counter with PEBS: Core's IA32_PMC0 or NetBurst's MSR_IQ_COUNTER4.
 */
#define DRAIN_COUNTERS 36

struct drain {
	enum record_format format;
	const u8 *bytes;
	u64 size;    /* bytes of the buffer that are filled */
	u64 enabled; /* complete IA32_PEBS_ENABLE, with load latency bits, as the driver uses it */
	u32 counts[DRAIN_COUNTERS];     /* records of each counter */
	u32 collisions[DRAIN_COUNTERS]; /* records of several counters, dropped (before PEBS format 0011b) */
	u32 unclaimed;                  /* records that name no enabled counter */
	u32 broken;                     /* 1: the rest of the buffer is not a record */
	/* position of drain_next() */
	u32 counter;
	u32 delivered;
	u64 offset;
};

/* Counts the records. The caller owns the bytes, which must not change until the last drain_next(). */
void drain_open(struct drain *drain, enum record_format format, const void *bytes, u64 size, u64 enabled);

struct delivery {
	u32 counter;
	bool last; /* newest record of its counter: perf_event_overflow() gets only this one in an interrupt */
	struct record record;
};

/*
 * Returns the next record: sorted by counter, and for each counter in buffer order. Returns false at the end.
 */
bool drain_next(struct drain *drain, struct delivery *ret);

#endif
