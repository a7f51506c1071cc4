// SPDX-License-Identifier: GPL-2.0
/*
 * The perf_event_attr of a zoom's events. Pure.
 *
 * Each sample is to run the limiter. A precise event for which wakeup_events is set without watermark has
 * neither a large PEBS buffer nor a counter that the hardware reloads (intel_pmu_hw_config(),
 * arch/x86/events/intel/core.c, Linux 6.1, 6.12 and 7.3), so that each record comes with an interrupt of its
 * own, as in perf_attr.h; and nobody is woken before there have been so many samples (perf_output_sample(),
 * kernel/events/core.c). A ring half full wakes its pollers, of which there are none.
 */
#ifndef PEBSD_ZOOM_ATTR_H
#define PEBSD_ZOOM_ATTR_H

#include <linux/perf_event.h>

#include "origin/pmu/pmu.h"

/* What a kernel or CPU may not take. */
struct zoom_ways {
	bool lbr;
	bool physical;
	bool build_ids;
};

/* The sampling event, disabled. `tells_tasks`: it logs mappings, names, forks and exits, as one event of a
 * ring is to. */
void zoom_attr(const struct pmu_opening *opening, const struct zoom_ways *ways, bool tells_tasks,
	       struct perf_event_attr *ret);

/* The leader of its group, which only counts. */
void zoom_attr_leader(const struct pmu_opening *opening, struct perf_event_attr *ret);

/*
 * Gives up one of the ways after the kernel refused the event with `error` (-errno): the LBR, which some CPUs
 * and all software events lack, then build ids, which no kernel before 5.12 logs, then physical addresses,
 * which take rights. Returns whether there was one to give up, and one that the error may be for.
 */
bool zoom_attr_weaken(int error, struct zoom_ways *ways);

#endif
