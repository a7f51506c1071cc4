// SPDX-License-Identifier: GPL-2.0
/*
 * Recognizes the events of a recording that only count: cycles, instructions, stalls and misses. Pure.
 *
 * The generation of the CPU, from the recording's CPUID, gives an event's code its meaning, by the same tables as on a
 * live machine (origin/pmu). Names that perf knows from its own tables (tools/perf/pmu-events) have a meaning on any
 * CPU.
 */
#ifndef PEBSD_REPLAY_COUNT_H
#define PEBSD_REPLAY_COUNT_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "origin/event.h"

/*
 * Describes a recorded event: `role`, `count_kind`, `period` and `pmu`. `cpuid` has perf's format
 * ("GenuineIntel,6,85,4"), `name` is that of the event, and `pmu` that of its PMU. Each may be NULL: not recorded.
 * Returns false if it is not an event that pebsd counts, or if the recording has no samples of it because its period is
 * 0.
 */
bool replay_count_describe(const struct perf_event_attr *attr, const char *name, const char *pmu,
			   const char *cpuid, struct event *ret);

/*
 * Returns which modes the event leaves out: 1 for user mode, 2 for the kernel. Figures that are made of events with
 * different modes would be wrong.
 */
u8 replay_count_modes(const struct perf_event_attr *attr);

#endif
