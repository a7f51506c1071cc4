// SPDX-License-Identifier: GPL-2.0
/* The PEBS assist: one record, the counters reloaded, the index held against the threshold. */
#ifndef PEBSD_MODEL_ASSIST_H
#define PEBSD_MODEL_ASSIST_H

#include "pebs.h"

/*
 * Makes the assist at an instruction, triggered by `triggered` counters (bits of the status registers). All
 * counters that are armed share its record and are reloaded, also those that waited for their own: such a
 * record stands for several, and before 0011b a driver cannot tell whose it is. Returns the counters whose
 * overflow interrupt waited for this.
 */
u64 assist(struct pebs_unit *unit, const struct retired *retired, u64 triggered, u8 older);

#endif
