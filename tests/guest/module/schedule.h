// SPDX-License-Identifier: GPL-2.0
/* Which events are on the CPU's counters: x86_pmu_add(), x86_pmu_del() and intel_pmu_read_event(). */
#ifndef PEBS_MACHINE_SCHEDULE_H
#define PEBS_MACHINE_SCHEDULE_H

#include "constraint.h"
#include "core.h"

/* What an opened event asks of the counters. */
struct demand schedule_demand(const struct perf_event *event);

/* -EAGAIN where no counter is left: the caller has it wait, or puts it into error. */
int schedule_add(struct core *core, struct perf_event *event, int flags);
void schedule_remove(struct core *core, struct perf_event *event);
void schedule_read(struct core *core, struct perf_event *event);

#endif
