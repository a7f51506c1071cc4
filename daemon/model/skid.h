// SPDX-License-Identifier: GPL-2.0
/*
 * Skid: a finite delay between a counter's overflow and PEBS being ready, in which instructions pass, and the
 * two mechanisms that take it away (manual 18.9.4.4, 18.7.1.2).
 *
 * Without skid the assist is made at the very instruction that overflowed the counter; else at the first one
 * that counts once PEBS is ready.
 */
#ifndef PEBSD_MODEL_SKID_H
#define PEBSD_MODEL_SKID_H

#include "pebs.h"

#define PDIR_COUNTER 1
#define PDIR_EVENT   0x01c0 /* INST_RETIRED.ALL, on Sandy Bridge and later PREC_DIST */

/* PDIR: INST_RETIRED.ALL, and nothing made of it, on counter 1 that is enabled for PEBS. */
bool skid_pdir(const struct machine *machine, u32 counter, u64 select, u64 pebs_enable);

/* Goldmont's reduced skid: any precise event, but for a counter with INV, ANY, E or CMASK set. */
bool skid_reduced(const struct machine *machine, u64 select);

/*
 * A counter or its configuration is written to. Where PEBS is on for it (in IA32_PEBS_ENABLE and in
 * IA32_PERF_GLOBAL_CTRL), reduced skid does not work before the counter is reloaded by an assist, or written
 * to with PEBS off.
 */
void skid_written(const struct pebs_unit *unit, u32 counter, struct pebs_counter *written);

/* PDist and the reduced skid of E-cores: whatever precise event is on one of the machine's counters for it.
 * `counter`: fixed ones from PEBS_FIXED_0. */
bool skid_distributed(const struct machine *machine, u32 counter, u64 pebs_enable);

/* Whether the counter's overflow itself makes the assist. */
bool skid_none(const struct machine *machine, const struct pebs_counter *counter);

#endif
