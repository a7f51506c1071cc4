// SPDX-License-Identifier: GPL-2.0
/*
 * The driver's work on one counter: programming it, counting on, reloading it; and its share of the PEBS
 * setup. What x86_pmu_start(), _stop(), x86_perf_event_update(), _set_period() in arch/x86/events/core.c,
 * intel_pmu_*() in intel/core.c and intel_pmu_pebs_*() in intel/ds.c do (Linux 6.1, 6.12, 7.3), on the
 * model's registers. All of them run on the event's own CPU with interrupts off, inside core_enter() or in
 * the interrupt's handler.
 */
#ifndef PEBS_MACHINE_DRIVER_H
#define PEBS_MACHINE_DRIVER_H

#include "core.h"

/* Of hw_perf_event::flags: what the event was found to be when it was opened. */
#define FLAG_AUTO_RELOAD  0x1 /* the hardware reloads the counter, and goes on without the handler */
#define FLAG_LARGE        0x2 /* records may wait in the buffer */
#define FLAG_LOAD_LATENCY 0x4
#define FLAG_STORE        0x8  /* the machine's store event, precise */
#define FLAG_MACHINE_READ 0x10 /* shows its counter's number in the mapped page (/sys/.../cpu/rdpmc) */

/* Stops counting altogether and goes on; nests as pmu_disable and pmu_enable do not. */
void driver_pause(struct core *core);
void driver_resume(struct core *core);

/* The counter's number must stand in hw.idx. flags: PERF_EF_RELOAD, PERF_EF_UPDATE. */
void driver_start(struct core *core, struct perf_event *event, int flags);
void driver_stop(struct core *core, struct perf_event *event, int flags);

/* Adds what the counter went on by to the event's count. */
void driver_update(struct core *core, struct perf_event *event);

/* Loads the counter with what is left of the period. True: a period is over. */
bool driver_set_period(struct core *core, struct perf_event *event);

/* Takes `records` overflows of a counter that reloads itself into account. */
void driver_update_reloaded(struct core *core, struct perf_event *event, u32 records);

/* An event with PEBS joins those of the CPU, or leaves them. */
void driver_pebs_add(struct core *core, struct perf_event *event);
void driver_pebs_remove(struct core *core, struct perf_event *event);

/* All of the CPU's PEBS events may wait in the buffer: it is emptied when tasks change. */
static inline bool driver_all_large(const struct core *core)
{
	return core->n_pebs && core->n_pebs == core->n_large;
}

#endif
