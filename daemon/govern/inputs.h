// SPDX-License-Identifier: GPL-2.0
/* Computes the governor's inputs from the counts of an interval on each CPU. Pure functions. */
#ifndef PEBSD_GOVERN_INPUTS_H
#define PEBSD_GOVERN_INPUTS_H

#include "govern/governor.h"
#include "origin/event_counts.h"
#include "origin/pmu/pmu.h"

/*
 * Finds the busiest CPU over an interval of `seconds`, among those whose event was open at both readings.
 * Both lists are in ascending order of CPU numbers. Fills in `known`, `events_per_second`, `active`,
 * `samples` and `cpus`, and `throttled` and `throttles` of the CPU that was stopped for longest. If there is
 * no such CPU, `known` is false. A CPU whose counts did not change since the first reading had no sample.
 *
 * The times of a CPU are those of its last sample. If samples are rare, two of them may lie close together,
 * one before and one after the first reading. That is not a high rate, so their time counts as at least the
 * whole interval.
 */
void govern_busiest(double seconds, const struct cpu_counts *before, size_t n_before,
		    const struct cpu_counts *now, size_t n_now, struct governor_input *ret);

/* Fills in the bounds for the period of an event. `usual_period` is the one in the plan. */
void govern_bounds(const struct event_spec *spec, u64 usual_period, struct governor_input *ret);

/* Puts events that have a CPU in common into the same class. Writes a class number for each. */
void govern_classes(const struct event_spec *const *specs, size_t n, u32 ret[static EVENTS_MAX]);

#endif
