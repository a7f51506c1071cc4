// SPDX-License-Identifier: GPL-2.0
/*
 * A core's performance monitoring unit with PEBS, from Core on, as software sees it: registers, a DS save area in
 * memory, and interrupts. NetBurst's PEBS is in netburst.h.
 *
 * An overflow of a counter arms its PEBS. The next event of that counter triggers the assist (manual
 * 18.8.1.1, "PEBS Counter X Reset" and "Performance Counter Prioritization"). The assist writes a record at
 * the area's index, reloads the overflowed counters that are enabled for PEBS from their reset fields, and
 * compares the index with the interrupt threshold. A record's period is therefore the events up to the
 * overflow plus one. With PDIR, PDist or reduced skid (skid.h), the overflow itself triggers the assist.
 *
 * If a counter is enabled for PEBS, its overflow sets the status bit until the assist. If its INT bit is set,
 * the interrupt follows the assist, and the status bit stays set for the interrupt handler. Events that are
 * not precise arm nothing: they count and interrupt as without PEBS.
 *
 * If the buffer has no space for the record, nothing is written or reloaded, there is no threshold interrupt, and
 * the counters stay armed. The next event after software has moved the index then makes the record. If there is
 * no area, the overflow is discarded.
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
/* Counters are numbered as in the status registers: general-purpose ones from 0, fixed ones from 32. */
#define PEBS_FIXED_0 32

/* Instructions, see `skid`. */
#define SKID_DEFAULT 6

/* More than can be pending at once, because interrupts of a pending cause are merged. */
#define PEBS_INTERRUPTS_MAX 8

enum interrupt_cause { INTERRUPT_OVERFLOW, INTERRUPT_DS_THRESHOLD, INTERRUPT_UNCORE };

struct interrupt {
	enum interrupt_cause cause; /* not visible to software, which reads the status registers */
	u64 status;                 /* IA32_PERF_GLOBAL_STATUS bits that this interrupt stands for */
};

struct pebs_counter {
	/* IA32_PERFEVTSELx; for a fixed counter, its four bits of IA32_FIXED_CTR_CTRL and EVTSEL_ADAPTIVE */
	u64 select;
	u64 count;
	bool armed; /* overflowed: the next event triggers the assist */
	/* Written while PEBS was on: reduced skid does not work until the next reload (skid.h). */
	bool disturbed;
	bool interrupt_due;             /* the counter's overflow interrupt waits for the assist */
	bool asserted;                  /* edge detection: the condition held in the last cycle */
	u8 skid_left;                   /* instructions that an armed counter still ignores */
	struct counter_program program; /* the effect of `select` with the unit's other registers */
};

/* The last tagged load above the threshold. The next assist records it (18.8.1.2). */
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
	/*
	 * Average interval, in loads, at which the hardware tags a load at random. 1 tags all. Default 80:
	 * real counts at the lowest threshold are 66 to 111 times lower than those of all loads.
	 */
	u32 tag_interval;
	/*
	 * Maximum instructions between an overflow and PEBS being ready for the next event. The actual number
	 * is uniformly distributed from 0 to `skid`. PDIR, PDist and reduced skid avoid the delay. Default
	 * SKID_DEFAULT, which is a choice of this model.
	 */
	u8 skid;

	struct pebs_counter general[PEBS_GENERAL];
	struct pebs_counter fixed[PEBS_FIXED];
	u64 global_ctrl, global_status, uncore_status;
	u64 pebs_enable, data_cfg, threshold, ds_area;
	u64 offcore[2];
	struct pebs_tagged tagged;
	u32 tag_left;   /* loads until the next one is tagged */
	u64 tag_free;   /* time at which the tagged load retired; loads dispatched before cannot be tagged */
	u64 tsc;        /* time at which the last instruction retired; 0: none yet */
	u64 cycles;     /* between the retirements of the last two instructions */
	u64 counting;   /* counters that count, as bits of the status registers */
	bool tagging;   /* the load latency facility is on, for a counter that counts */
	bool auxiliary; /* the auxiliary event of load latency counts, or is not needed */
	const char *undefined;

	struct interrupt pending[PEBS_INTERRUPTS_MAX];
	u8 pending_count;

	u64 records;           /* written */
	struct record written; /* the last record, with all fields that the unit knows */
	u64 written_counters;  /* counters whose overflows `written` stands for, as bits of the status */
	u64 not_written;       /* assists without a record: no space, or no area */
};

/*
 * Sets all registers to 0, as after reset. The caller keeps `machine`. `memory` is copied, but the caller
 * keeps its bytes.
 */
void pebs_open(struct pebs_unit *unit, const struct machine *machine, struct linear_memory memory, u64 seed);

/*
 * WRMSR and RDMSR. -EINVAL stands for the general protection fault: no such register, reserved bits set, or a
 * write to a read-only register. Combinations that the manual leaves undefined are accepted, and
 * pebs_undefined() reports them (CMASK or INV with load latency, PDIR with other counters on 06_2A and 06_2D).
 * MSR_PEBS_LD_LAT_THRESHOLD accepts values below its minimum of 3, since Linux writes them (ldlat=0), and
 * such values act as 3. Adaptive records have the groups of MSR_PEBS_DATA_CFG if the counter has
 * EVTSEL_ADAPTIVE set (a fixed counter: FIXED_CTRL_ADAPTIVE), otherwise only the basic group.
 */
int pebs_write(struct pebs_unit *unit, u32 msr, u64 value);
int pebs_read(const struct pebs_unit *unit, u32 msr, u64 *ret);

/*
 * Returns the reason why the behaviour of the unit as configured is undefined on this machine, as a constant
 * that names the rule. NULL: the behaviour is defined. The counters concerned count nothing.
 */
const char *pebs_undefined(const struct pebs_unit *unit);

/* Retires one instruction. Returns the number of pending interrupts. */
u32 pebs_retire(struct pebs_unit *unit, const struct retired *retired);

/*
 * Adds `events` of counter `counter` at once (PEBS_FIXED_0 + n: a fixed one), as if that many instructions
 * had retired. Stops before the counter overflows, and adds none while the counter waits for its assist, so
 * that all relevant instructions are retired one by one. Returns how many passed, which is all if the counter
 * counts nothing. Other counters do not change, and no load is tagged.
 */
u64 pebs_pass(struct pebs_unit *unit, u32 counter, u64 events);

/*
 * The uncore's counters overflow and post their interrupt to this core (18.8.2). Before Nehalem there is no
 * uncore, and this does nothing.
 */
void pebs_uncore_overflow(struct pebs_unit *unit);

/*
 * Takes the next pending interrupt, in the order in which the hardware raises them. Returns false if there is
 * none. The status registers have their current value: if software clears all bits at the first interrupt, it
 * finds none at the second.
 */
bool pebs_take_interrupt(struct pebs_unit *unit, struct interrupt *ret);

#endif
