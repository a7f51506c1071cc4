// SPDX-License-Identifier: GPL-2.0
/*
 * What the events of IA32_PERFEVTSELx count of a retired instruction, per microarchitecture: event select and
 * unit mask to sets of places, snoop results and translations. Sources: manual 18.8.1.1 and 18.9.4 (precise
 * events of Nehalem and Sandy Bridge), 18.13.1.3 (Skylake), chapter 19 (event lists), 18.7 (Goldmont).
 */
#ifndef PEBSD_MODEL_EVENT_H
#define PEBSD_MODEL_EVENT_H

#include "machine.h"
#include "retired.h"

enum event_kind {
	EVENT_NONE, /* the machine has no such event, or the model does not know it: it counts nothing */
	EVENT_INSTRUCTIONS,
	EVENT_UOPS,
	EVENT_CYCLES,
	EVENT_SLOTS,  /* issue slots: fixed counter 3 of Ice Lake and later */
	EVENT_ACCESS, /* instructions whose memory access is in all of the sets below */
	EVENT_LOAD_LATENCY,
	EVENT_PRECISE_STORE,
	EVENT_STORE_LATENCY,
	EVENT_OFFCORE, /* off-core response; `offcore` says of which register */
};

struct event {
	u16 code; /* event select | unit mask << 8 */
	u8 kind;  /* enum event_kind */
	bool precise;
	bool auxiliary;       /* the load latency event's */
	bool locked;          /* locked accesses alone */
	u8 operations, asked; /* sets: bits of enum operation, enum asked */
	u16 places;           /* of enum place */
	u8 translated;        /* of enum translated */
	u8 offcore;           /* MSR_OFFCORE_RSP_0 or _1 */
	u32 counters;         /* general-purpose counters that can count it */
};

/* The event of a code on a general-purpose counter. `ret` has kind EVENT_NONE where there is none. */
void event_find(const struct machine *machine, u16 code, struct event *ret);

/* What fixed counter 0 to 3 counts: instructions, core cycles, reference cycles (the model's clock does not
 * change its rate, so these are core cycles), slots. */
void event_find_fixed(const struct machine *machine, u32 counter, struct event *ret);

/* How often an event other than the facilities' (load latency, precise store, off-core response) occurs with
 * the instruction. `cycles` since the last one. */
u64 event_occurrences(const struct machine *machine, const struct event *event, const struct retired *retired,
		      u64 cycles);

#endif
