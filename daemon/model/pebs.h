// SPDX-License-Identifier: GPL-2.0
/*
 * A core's performance monitoring unit with PEBS, Core to Sapphire Rapids, as software sees it: registers, a
 * DS save area in memory, interrupts. NetBurst's is in netburst.h.
 *
 * A counter that overflows arms its PEBS; the next event of that counter makes the assist: a record is
 * written at the area's index, the counters that overflowed and are enabled for PEBS are reloaded from their
 * reset fields, and the index is held against the interrupt threshold (manual 18.8.1.1, "PEBS Counter X
 * Reset" and "Performance Counter Prioritization"). A record's period is thus the events to the overflow and
 * one more, but for PDIR and reduced skid, where the overflow itself makes the assist.
 *
 * Of an overflow of a counter that PEBS is on for, the status bit is set until the assist; with the INT bit
 * set its interrupt comes after the assist, and the status bit stays for it. Events that are not precise arm
 * nothing: they count and interrupt as ever.
 *
 * A buffer without room for the record: nothing is written, reloaded or told, and the counters stay armed, so
 * that the next event after software has moved the index makes the record. No area at all: the overflow is
 * forgotten.
 */
#ifndef PEBSD_MODEL_PEBS_H
#define PEBSD_MODEL_PEBS_H

#include "counter.h"
#include "ds_area.h"
#include "msr.h"
#include "random.h"
#include "record.h"

#define PEBS_GENERAL 8
#define PEBS_FIXED   4
/* Index of a counter: general-purpose ones from 0, fixed ones from 32, as in the status registers. */
#define PEBS_FIXED_0 32

/* Instructions, see `skid`. */
#define SKID_DEFAULT 6

/* More than can wait at once: interrupts of a cause that wait already are one. */
#define PEBS_INTERRUPTS_MAX 8

enum interrupt_cause { INTERRUPT_OVERFLOW, INTERRUPT_DS_THRESHOLD, INTERRUPT_UNCORE };

struct interrupt {
	enum interrupt_cause cause; /* which software does not see: it reads the status registers */
	u64 status;                 /* IA32_PERF_GLOBAL_STATUS bits that this interrupt stands for */
};

struct pebs_counter {
	u64 select; /* IA32_PERFEVTSELx; a fixed counter's four bits of IA32_FIXED_CTR_CTRL, and
		       EVTSEL_ADAPTIVE */
	u64 count;
	bool armed;     /* overflowed: the next event makes the assist */
	bool disturbed; /* written to while PEBS was on: no early indication before the next reload (skid.h)
			 */
	bool interrupt_due;             /* its overflow interrupt waits for the assist */
	bool asserted;                  /* edge detection: the condition held in the last cycle */
	u8 skid_left;                   /* instructions that an armed counter lets pass yet */
	struct counter_program program; /* what `select` comes to on this unit as programmed */
};

/* The last tagged load over the threshold, which the next assist captures (18.8.1.2). */
struct pebs_tagged {
	bool valid;
	u64 address;
	u64 source;
	u64 latency;
};

struct pebs_unit {
	const struct machine *machine;
	struct linear_memory memory;
	struct random random;
	/* Hardware picks loads to tag at random; one in so many on average. 1 tags all. Default 80: real
	 * counts at the lowest threshold are 66 to 111 times below those of all loads. */
	u32 tag_interval;
	/* Instructions between an overflow and PEBS being ready for the next event: 0 to `skid`, evenly. PDIR
	 * and reduced skid take it away. Default SKID_DEFAULT, the model's own figure. */
	u8 skid;

	struct pebs_counter general[PEBS_GENERAL];
	struct pebs_counter fixed[PEBS_FIXED];
	u64 global_ctrl, global_status, uncore_status;
	u64 pebs_enable, data_cfg, threshold, ds_area;
	u64 offcore[2];
	struct pebs_tagged tagged;
	u32 tag_left;   /* loads until the next one is tagged */
	u64 tag_free;   /* when the tagged load retired: until then no other one could be */
	u64 tsc;        /* of the last instruction; 0: none yet */
	u64 cycles;     /* from the one before it to its retirement */
	u64 counting;   /* counters that count as programmed, as bits of the status registers */
	bool tagging;   /* the load latency facility is on, and for a counter that counts */
	bool auxiliary; /* the load latency event's auxiliary counts too, where the machine wants it */
	const char *undefined;

	struct interrupt pending[PEBS_INTERRUPTS_MAX];
	u8 pending_count;

	u64 records;           /* written */
	struct record written; /* the last one, with every field that the unit knows */
	u64 written_counters;  /* whose overflows it stands for, as bits of the status registers */
	u64 not_written;       /* assists that found no room or no area */
};

/* All registers 0, as after reset. `machine` stays the caller's; `memory` is copied, its bytes stay the
 * caller's. */
void pebs_open(struct pebs_unit *unit, const struct machine *machine, struct linear_memory memory, u64 seed);

/*
 * WRMSR, RDMSR. -EINVAL stands for the general protection fault: no such register, reserved bits set, a read
 * only one written. What the manual leaves undefined (CMASK or INV with load latency, PDIR beside other
 * counters on 06_2A) is taken, and told by pebs_undefined(). MSR_PEBS_LD_LAT_THRESHOLD takes values below its
 * minimum of 3, as Linux writes them (ldlat=0), and they act as 3. Adaptive records have MSR_PEBS_DATA_CFG's
 * groups where the counter has EVTSEL_ADAPTIVE set (FIXED_CTRL_ADAPTIVE), else the basic one alone.
 */
int pebs_write(struct pebs_unit *unit, u32 msr, u64 value);
int pebs_read(const struct pebs_unit *unit, u32 msr, u64 *ret);

/* Why the unit as programmed would be undefined on the machine: a constant text naming the rule; NULL: it is
 * not. Counters that it concerns count nothing. */
const char *pebs_undefined(const struct pebs_unit *unit);

/* One instruction retires. Returns how many interrupts are pending now. */
u32 pebs_retire(struct pebs_unit *unit, const struct retired *retired);

/*
 * `events` more of what counter `counter` counts (PEBS_FIXED_0 + n: a fixed one) pass, at once, as that many
 * instructions would have it: but none past the last one before the counter overflows, and none while it
 * waits for its assist, so that what matters is always retired one by one. Returns how many passed; all of
 * them where the counter counts nothing. Other counters stand still, and no load is tagged.
 */
u64 pebs_pass(struct pebs_unit *unit, u32 counter, u64 events);

/* The uncore's counters overflow and post their interrupt to this core (18.8.2). Before Nehalem there is no
 * uncore, and nothing happens. */
void pebs_uncore_overflow(struct pebs_unit *unit);

/* Takes the next pending interrupt, in the order in which the hardware raises them. False: none. The status
 * registers are as of now: who clears them all at the first one finds nothing at the second. */
bool pebs_take_interrupt(struct pebs_unit *unit, struct interrupt *ret);

#endif
