// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of the events of IA32_PERFEVTSELx for a retired instruction, by microarchitecture. The tables map
 * event select and unit mask to sets of places, snoop results and translations. Sources: manual 18.8.1.1 and
 * 18.9.4 (precise events of Nehalem and Sandy Bridge), 18.13.1.2 (Skylake), chapter 19 (event lists), 18.7
 * (Goldmont).
 */
#ifndef PEBSD_MODEL_MACHINE_EVENT_H
#define PEBSD_MODEL_MACHINE_EVENT_H

#include "machine.h"
#include "retired.h"

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
};

struct machine_event {
	u16 code; /* event select | unit mask << 8 */
	u8 kind;  /* enum machine_event_kind */
	bool precise;
	bool auxiliary;       /* auxiliary of the load latency event */
	bool locked;          /* only locked accesses */
	u8 operations, asked; /* sets: bits of enum operation and enum asked */
	u16 places;           /* set: bits of enum place */
	u8 translated;        /* set: bits of enum translated */
	u8 offcore;           /* MSR_OFFCORE_RSP_0 or _1 */
	u32 counters;         /* general-purpose counters that can count it */
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
 * Returns the number of times that an event occurs with the instruction; 0 for load latency, precise store and
 * off-core response, which other functions count. `cycles` is the time since the previous instruction.
 */
u64 machine_event_occurrences(const struct machine *machine, const struct machine_event *event,
			      const struct retired *retired, u64 cycles);

#endif
