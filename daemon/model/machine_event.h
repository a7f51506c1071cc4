// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of the events of IA32_PERFEVTSELx for a retired instruction, by microarchitecture. The tables map
 * event select and unit mask to sets of places, snoop results and translations. Sources: manual 18.8.1.1 and
 * 18.9.4 (precise events of Nehalem and Sandy Bridge), 18.13.1.2 (Skylake), chapter 19 (event lists), 18.7
 * (Goldmont), and tools/perf/pmu-events/arch/x86 of Linux 6.12 (stalls, misses of the last cache, AMD's events).
 */
#ifndef PEBSD_MODEL_MACHINE_EVENT_H
#define PEBSD_MODEL_MACHINE_EVENT_H

#include "machine.h"
#include "retired.h"

struct ibs_machine;

enum machine_event_kind {
	MACHINE_EVENT_NONE, /* no such event, or not modelled: it counts nothing */
	MACHINE_EVENT_INSTRUCTIONS,
	MACHINE_EVENT_UOPS,
	MACHINE_EVENT_CYCLES,
	MACHINE_EVENT_SLOTS,  /* issue slots: fixed counter 3 of Ice Lake and later */
	MACHINE_EVENT_ACCESS, /* instructions whose memory access matches all sets below */
	MACHINE_EVENT_LOAD_LATENCY,
	MACHINE_EVENT_PRECISE_STORE,
	MACHINE_EVENT_STORE_LATENCY,
	MACHINE_EVENT_OFFCORE, /* off-core response; `offcore` is the register */
	MACHINE_EVENT_STALLS,  /* cycles without progress while a load is outstanding; see `stalls` */
	MACHINE_EVENT_MISSES,  /* accesses that leave the last cache, found in one of `places` */
};

/* The loads for which a cycle of MACHINE_EVENT_STALLS waits. */
enum machine_stalls {
	STALLS_LOAD,    /* any load */
	STALLS_L1_MISS, /* a load that missed the first-level cache */
	STALLS_RETIRE, /* the oldest operation is a load without its data; in this model, the same as any load */
};

struct machine_event {
	u16 code; /* event select | unit mask << 8 */
	u8 kind;  /* enum machine_event_kind */
	bool precise;
	bool auxiliary;       /* auxiliary of the load latency event */
	bool locked;          /* only locked accesses */
	u8 operations, snoop; /* sets: bits of enum operation and enum snoop_result */
	u16 places;           /* set: bits of enum place */
	u8 translated;        /* set: bits of enum translated */
	u8 offcore;           /* MSR_OFFCORE_RSP_0 or _1 */
	u8 stalls;            /* enum machine_stalls */
	/*
	 * A counter mask that belongs to the event: with another one, the code means another event, which is not
	 * modelled. 0: none, the counter mask filters as usual.
	 */
	u8 mask;
	u32 counters; /* general-purpose counters that can count it */
};

/*
 * Finds the event of a code on a general-purpose counter. Sets the kind to MACHINE_EVENT_NONE if there is
 * none.
 */
void machine_event_find(const struct machine *machine, u16 code, struct machine_event *ret);

/*
 * Finds the event of a fixed counter, 0 to 3: instructions, core cycles, reference cycles, slots. Reference
 * cycles equal core cycles, since the model's clock rate does not change.
 */
void machine_event_find_fixed(const struct machine *machine, u32 counter, struct machine_event *ret);

/*
 * Finds the event of a core counter of an AMD machine (PERF_CTL: event select in bits 35:32 and 7:0, unit mask in bits
 * 15:8).
 */
void machine_event_find_amd(const struct ibs_machine *machine, u64 control, struct machine_event *ret);

/*
 * Find the stall event that perf's tables have for the machine, and the event of misses of the last cache. The kind is
 * MACHINE_EVENT_NONE if there is none.
 */
void machine_event_find_stalls(const struct machine *machine, struct machine_event *ret);
void machine_event_find_misses(const struct machine *machine, struct machine_event *ret);

/*
 * Returns the number of times that an event occurs with the instruction; 0 for load latency, precise store and
 * off-core response, which other functions count. `cycles` is the time since the previous instruction.
 */
u64 machine_event_occurrences(const struct machine *machine, const struct machine_event *event,
			      const struct retired *retired, u64 cycles);

#endif
