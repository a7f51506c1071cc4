// SPDX-License-Identifier: GPL-2.0
/*
 * What a driver does with a PEBS buffer: which record is whose, and how it goes on. The rules are those of
 * intel_pmu_drain_pebs_core(), _nhm() and _icl() in arch/x86/events/intel/ds.c (Linux 6.1, 6.12, 7.3).
 */
#ifndef PEBSD_MODEL_DRAIN_H
#define PEBSD_MODEL_DRAIN_H

#include "record.h"

/* Counters as in drain_next(): general-purpose ones 0 to 7, fixed ones 32 to 35. Of the formats without a
 * status it is 0: Core's IA32_PMC0, NetBurst's MSR_IQ_COUNTER4, the only ones that do PEBS there. */
#define DRAIN_COUNTERS 36

struct drain {
	enum record_format format;
	const u8 *bytes;
	u64 size;                   /* of the buffer's filled part, in bytes */
	u64 enabled;                /* IA32_PEBS_ENABLE, whole: the load latency bits too, as the driver */
	u32 counts[DRAIN_COUNTERS]; /* records of each counter */
	u32 collisions[DRAIN_COUNTERS]; /* records that named several counters and were dropped (before 0011b)
					 */
	u32 unclaimed;                  /* records that named no enabled counter: nobody's */
	u32 broken;                     /* 1: the rest of the buffer is no record */
	/* where it stands */
	u32 counter;
	u32 delivered;
	u64 offset;
};

/* Counts what is there. The bytes stay the caller's, and as they are until the last drain_next(). */
void drain_open(struct drain *drain, enum record_format format, const void *bytes, u64 size, u64 enabled);

struct delivery {
	u32 counter;
	bool last; /* the newest of its counter: the only one that perf_event_overflow() gets in an interrupt
		    */
	struct record record;
};

/* The next one: by counter, and each counter's in the order of the buffer. False at the end. */
bool drain_next(struct drain *drain, struct delivery *ret);

#endif
