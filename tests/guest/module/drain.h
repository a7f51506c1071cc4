// SPDX-License-Identifier: GPL-2.0
/* Empties the CPU's PEBS buffer: intel_pmu_drain_pebs_nhm() and _icl() in arch/x86/events/intel/ds.c. */
#ifndef PEBS_MACHINE_DRAIN_H
#define PEBS_MACHINE_DRAIN_H

#include "core.h"

/*
 * In the interrupt, with the registers that it interrupted, the last record of each event goes to
 * perf_event_overflow(), which runs a BPF program; the others, and without registers all of them, go to
 * perf_event_output() and so to the ring buffer alone.
 */
void drain(struct core *core, const struct pt_regs *interrupted);

/* Hands over to perf_event_overflow(), and stops the event where that asks for it. */
void drain_overflow(struct core *core, struct perf_event *event, struct perf_sample_data *data,
		    struct pt_regs *registers);

/* Takes an overflow into account and loads the counter anew. False: it is not over yet. */
bool drain_restart(struct core *core, struct perf_event *event);

#endif
