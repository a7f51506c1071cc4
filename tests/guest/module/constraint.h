// SPDX-License-Identifier: GPL-2.0
/* Which counters an event may use, and how events share them. Pure: nothing here touches a CPU. */
#ifndef PEBS_MACHINE_CONSTRAINT_H
#define PEBS_MACHINE_CONSTRAINT_H

#include "model/machine.h"

/* What an event asks for, as struct perf_event_attr and the driver's configuration have it. */
struct demand {
	u64 config; /* IA32_PERFEVTSELx: event select, unit mask, edge, inv, cmask */
	u8 precise;
	u32 extra_register; /* 0: none */
	u64 extra_value;
};

/* Bits of the counters, fixed ones from bit 32; 0: none can. intel_*_pebs_event_constraints[] in
 * arch/x86/events/intel/ds.c, intel_*_event_constraints[] and *_get_event_constraints() in core.c
 * (6.1, 6.12), as far as the model's machines go. */
u64 constraint_counters(const struct machine *machine, const struct demand *demand);

/*
 * Gives each demand a counter of its own. In `counters` stand those that the first ones have, -1 for none;
 * they keep them where they can. False, with `counters` as it was: not all of them fit, or two want different
 * things of one extra register.
 */
bool constraint_schedule(const struct machine *machine, const struct demand *demands, unsigned int n,
			 int *counters);

#endif
