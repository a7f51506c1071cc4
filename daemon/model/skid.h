// SPDX-License-Identifier: GPL-2.0
/*
 * Skid is a finite delay between a counter's overflow and PEBS being ready, during which instructions retire.
 * Three mechanisms avoid skid: PDIR (precise distribution of instructions retired, manual 18.9.4.4), Goldmont's
 * reduced skid (18.7.1.2), and on later CPUs PDist (precise distribution) or the reduced skid of E-cores.
 *
 * Without skid, the assist happens at the instruction that overflowed the counter. With skid, it happens at
 * the first instruction that counts after PEBS is ready.
 */
#ifndef PEBSD_MODEL_SKID_H
#define PEBSD_MODEL_SKID_H

#include "pebs.h"

#define PDIR_COUNTER 1
#define PDIR_EVENT   0x01c0 /* INST_RETIRED.ALL, called PREC_DIST since Sandy Bridge */

/*
 * Returns whether PDIR is in use: INST_RETIRED.ALL without modifiers on counter 1, which is enabled for PEBS.
 */
bool skid_pdir(const struct machine *machine, u32 counter, u64 select, u64 pebs_enable);

/* Returns whether Goldmont's reduced skid applies: any precise event, unless INV, ANY, E or CMASK is set. */
bool skid_reduced(const struct machine *machine, u64 select);

/*
 * Call this when a counter or its configuration is written. If PEBS is on for the counter (in
 * IA32_PEBS_ENABLE and IA32_PERF_GLOBAL_CTRL), reduced skid stops working. Reduced skid works again after an
 * assist has reloaded the counter, or after a write with PEBS off.
 */
void skid_written(const struct pebs_unit *unit, u32 counter, struct pebs_counter *written);

/*
 * Returns whether PDist, or the reduced skid of E-cores, applies. Either applies to any precise event on the
 * machine's distributed_counters. The indexes of fixed counters begin at PEBS_FIXED_0.
 */
bool skid_distributed(const struct machine *machine, u32 counter, u64 pebs_enable);

/* Returns whether the counter's overflow itself triggers the assist. */
bool skid_none(const struct machine *machine, const struct pebs_counter *counter);

#endif
