// SPDX-License-Identifier: GPL-2.0
/* What the governor is to know of an interval, from what events counted on each CPU. Pure. */
#ifndef PEBSD_GOVERN_INPUTS_H
#define PEBSD_GOVERN_INPUTS_H

#include "govern/governor.h"
#include "origin/cpu_counts.h"
#include "origin/pmu/pmu.h"

/*
 * The CPU that sampled most often, of those that were open at both readings, ascending by number each, over
 * an interval of `seconds`. Fills in `known`, `events_per_second`, `active`, `samples`, `cpus`, and of the
 * CPU that was stopped for longest `throttled` and `throttles`. Not known where there is none; a CPU without
 * news since the first reading had no sample.
 *
 * A CPU's times are as of its last sample. Where samples are rare, two that happen to lie close, one on
 * either side of the first reading, are no high rate: they are of the whole interval, or of more.
 */
void govern_busiest(double seconds, const struct cpu_counts *before, size_t n_before,
		    const struct cpu_counts *now, size_t n_now, struct governor_input *ret);

/* Between which periods an event that was opened as the plan says may be governed. */
void govern_bounds(const struct pmu_opening *opening, u64 usual_period, struct governor_input *ret);

/* Events that have a CPU in common are of one class. Writes a number for each. */
void govern_classes(const struct pmu_opening *const *openings, size_t n, u32 ret[static EVENTS_MAX]);

#endif
