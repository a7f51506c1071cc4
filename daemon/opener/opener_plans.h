// SPDX-License-Identifier: GPL-2.0
/*
 * What pebsd may be configured to open on this machine: one plan does not say it, for of events that exclude
 * each other (loads and stores on AMD; instructions and anything else on Sandy Bridge) it has one alone.
 */
#ifndef PEBSD_OPENER_PLANS_H
#define PEBSD_OPENER_PLANS_H

#include "opener/opener_allowed.h"

/* That of all events first, then those of each event alone that it refuses. All zero: none was made. */
struct opener_plans {
	u32 ldlat; /* that they are for, cycles; 0: none was made */
	size_t n;
	struct pmu_plan plans[1 + EVENT_ROLES];
};

/* Plans below `sysfs_root`, in the place of what `plans` held. 0 or -errno, with none made. */
int opener_plans_make(struct opener_plans *plans, const char *sysfs_root, u32 ldlat);
void opener_plans_done(struct opener_plans *plans);

/* Whether any of them allows it: as opener_allowed(). The reason is of the plan of all events. */
int opener_plans_allow(const struct opener_plans *plans, const struct opener_request *request,
		       char ret_reason[OPENER_REASON_MAX]);

#endif
