// SPDX-License-Identifier: GPL-2.0
/*
 * Builds the perf_event_attr of a zoom's events. Pure.
 *
 * The limiter has to run for each sample. A precise event with wakeup_events set and watermark clear gets
 * neither a large PEBS buffer nor a counter that the hardware reloads (intel_pmu_hw_config(),
 * arch/x86/events/intel/core.c, Linux 6.1, 6.12 and 7.3). Each record therefore comes with its own interrupt,
 * as in perf_attr.h. wakeup_events is INT_MAX, so the kernel never reaches the count at which it wakes a
 * reader (perf_output_sample(), kernel/events/core.c). A half full ring also wakes its pollers, but nothing
 * polls it.
 */
#ifndef PEBSD_ZOOM_ATTR_H
#define PEBSD_ZOOM_ATTR_H

#include <linux/perf_event.h>

#include "origin/pmu/pmu.h"

/* Optional features of an event that some kernels or CPUs refuse. */
struct zoom_ways {
	bool lbr;
	bool physical;
	bool build_ids;
};

/*
 * Fills in the sampling event, disabled. If `logs_tasks` is set, the event also logs mappings, names, forks
 * and exits. Exactly one event of each ring should do that.
 */
void zoom_attr(const struct event_spec *spec, const struct zoom_ways *ways, bool logs_tasks,
	       struct perf_event_attr *ret);

/* Fills in the leader of the event's group, which only counts. */
void zoom_attr_leader(const struct event_spec *spec, struct perf_event_attr *ret);

/*
 * Gives up one optional feature after the kernel refused the event with `error` (-errno). The order is: the
 * LBR, which some CPUs and all software events lack; build ids, which kernels before 5.12 do not log;
 * physical addresses, which need privileges. Returns false if `error` has another cause or if no feature is
 * left.
 */
bool zoom_attr_weaken(int error, struct zoom_ways *ways);

#endif
