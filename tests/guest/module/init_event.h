// SPDX-License-Identifier: GPL-2.0
/* What the machine's driver takes of perf_event_open(2): x86_pmu_event_init() and intel_pmu_hw_config(). */
#ifndef PEBS_MACHINE_INIT_EVENT_H
#define PEBS_MACHINE_INIT_EVENT_H

#include "core.h"

struct dentry;

int init_event(struct perf_event *event);

/* perf_event_open(2) and PERF_EVENT_IOC_PERIOD: -EINVAL where the period is too small for the event. */
int init_event_check_period(struct perf_event *event, u64 period);

/* What is left of a period, as the kernel makes it fit for the event (x86_pmu.limit_period). */
s64 init_event_limit_period(const struct perf_event *event, s64 left);

/* pebs_machine/open: how many events are. */
void init_event_file_open(struct dentry *directory);

#endif
