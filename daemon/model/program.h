// SPDX-License-Identifier: GPL-2.0
/* What the registers as they stand come to: which counters count what, and what of it is undefined. */
#ifndef PEBSD_MODEL_PROGRAM_H
#define PEBSD_MODEL_PROGRAM_H

#include "pebs.h"

/* Counters that the unit has, as bits of the status registers. None on a NetBurst machine: netburst.h. */
u64 program_counters(const struct machine *machine);

/* By index as in the status registers; NULL where the machine has none such. */
struct pebs_counter *program_counter(struct pebs_unit *unit, u32 counter);

/* Works it out anew; after each write. */
void program_unit(struct pebs_unit *unit);

#endif
