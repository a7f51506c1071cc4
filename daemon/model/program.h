// SPDX-License-Identifier: GPL-2.0
/*
 * Evaluates the current register values (manual 18.2.2): the counters that count, their events, and undefined
 * settings.
 */
#ifndef PEBSD_MODEL_PROGRAM_H
#define PEBSD_MODEL_PROGRAM_H

#include "pebs.h"

/*
 * Returns the counters that the unit has, as bits of the status registers. A NetBurst machine has none here,
 * see netburst.h.
 */
u64 program_counters(const struct machine *machine);

/* Returns the counter with this index in the status registers, or NULL. */
struct pebs_counter *program_counter(struct pebs_unit *unit, u32 counter);

/* Evaluates all registers again. Called after each write. */
void program_unit(struct pebs_unit *unit);

#endif
