// SPDX-License-Identifier: GPL-2.0
/*
 * Leaves some of the general-purpose counters of each CPU to other users (`leave-counters` in [sampling]). The
 * kernel cannot limit how many counters the events of one program use at a time. So pebsd opens only as many
 * events as the other counters can run at once. Pure functions.
 */
#ifndef PEBSD_PMU_LEAVE_H
#define PEBSD_PMU_LEAVE_H

#include "origin/pmu/pmu.h"

/* The counters of each CPU of a core PMU. */
struct pmu_general {
	char pmu[EVENT_PMU_MAX];
	unsigned counters; /* general-purpose counters; 0: not known */
	/*
	 * A fixed counter is free for an event of cycles, or of instructions without PEBS. Otherwise the event runs
	 * on a general-purpose counter.
	 */
	bool fixed_cycles;
	bool fixed_instructions;
};

/*
 * Returns true if events or off-core counters of a role in `roles` (1 << enum event_role) may use a counter of the PMU.
 */
bool pmu_leave_concerns(const struct pmu_plan *plan, unsigned roles, const char *pmu);

/*
 * Refuses those specs and off-core counters of the plan, with a role in `roles`, that do not fit on the
 * general-purpose counters other than `leave`. The first to go are count events: misses, then stalls,
 * instructions and cycles. Off-core counters follow, then precise instructions, stores, and at last loads.
 * Events on fixed counters and those of IBS need no general-purpose counter. Events of which only one counter
 * can run any take turns on it, so they need one together. A PMU that `pmus` does not have, or whose number of
 * counters is not known, is left as it is. Returns 0 or -ENOMEM.
 */
int pmu_leave_counters(struct pmu_plan *plan, unsigned roles, unsigned leave, const struct pmu_general *pmus,
		       size_t n_pmus);

#endif
