// SPDX-License-Identifier: GPL-2.0
/*
 * The PEBS assist (manual 18.8.1.1): writes one record, reloads the counters, and compares the index with the
 * threshold.
 */
#ifndef PEBSD_MODEL_ASSIST_H
#define PEBSD_MODEL_ASSIST_H

#include "pebs.h"

/*
 * Performs the assist at an instruction. `triggered` are the counters that triggered it, as bits of the
 * status registers. All armed counters share the record of the assist and are reloaded, including those that
 * waited for their own assist. Such a record stands for several counters, and before PEBS format 0011b a
 * driver cannot tell which. `older`: see interrupt_raise(). Returns the counters whose overflow interrupt
 * waited for this assist.
 */
u64 assist(struct pebs_unit *unit, const struct retired *retired, u64 triggered, u8 older);

#endif
