// SPDX-License-Identifier: GPL-2.0
/* The events of a plan, opened together: what one of them cannot have leaves the others as they are. */
#ifndef PEBSD_PERF_SETS_H
#define PEBSD_PERF_SETS_H

#include "origin/perf/perf.h"
#include "origin/pmu/perf_selection.h"
#include "origin/pmu/pmu.h"

/*
 * Opens what the plan says on the CPUs that the selection leaves, in the plan's order. What the kernel
 * refuses goes from the openings to the refusals; what has no selected CPU, to the notes. Returns 0 where one
 * event is open; else -errno of the first refusal, with what all of them say in `ret_message` (the caller's),
 * or -ENODEV and NULL where the plan had no opening or none with a selected CPU. -ENOMEM. The sets are the
 * caller's in every case. `whole`: the first refusal that another try may mend (perf_backend_may_mend()) ends
 * it.
 */
int perf_sets_open(struct pmu_plan *plan, const struct perf_selection *selection, const char *online_path,
		   bool whole, struct perf_event_set *ret[static EVENTS_MAX], size_t *ret_n,
		   char **ret_message);

/*
 * The refusals that a reader of the figures must know, each a sentence that the caller frees: not those of a
 * PMU whose CPUs all have an event of the same role on another (AMD's `cpu` beside `ibs_op`). Call with
 * `i` from 0; NULL: refusal `i` is none of these, or no memory. Pure.
 */
char *perf_sets_refusal(const struct pmu_plan *plan, size_t i);

/*
 * Gives each set the period that a plan made anew has for it. Returns 0, or the first -errno with
 * `ret_message` (the caller's) saying which stay as they are, and why; the others have theirs.
 */
int perf_sets_set_periods(struct perf_event_set *const *sets, size_t n, const struct pmu_plan *plan,
			  char **ret_message);

#endif
