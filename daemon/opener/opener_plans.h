// SPDX-License-Identifier: GPL-2.0
/*
 * The plans for all events that pebsd can be configured to open on this machine. One plan is not enough,
 * because it contains only one of several events that exclude each other (loads and stores on AMD). Some have other
 * attributes if they are alone (instructions on Sandy Bridge).
 */
#ifndef PEBSD_OPENER_PLANS_H
#define PEBSD_OPENER_PLANS_H

#include "opener/opener_allowed.h"

/*
 * The first plan is for all roles together. It is followed by a plan for each single role that it refuses,
 * and for instructions that it only counts. The last plan is that of `events = auto`, which counts instructions.
 * All zero means that no plans were made.
 */
struct opener_plans {
	u32 ldlat; /* cycles of the threshold that the plans are for; 0: no plans were made */
	size_t n;
	struct pmu_plan plans[2 + EVENT_ROLES];
};

/* Replaces the plans by new ones for `sysfs_root`. Returns 0, or -errno with no plans made. */
int opener_plans_make(struct opener_plans *plans, const char *sysfs_root, u32 ldlat);
void opener_plans_done(struct opener_plans *plans);

/*
 * Decides whether any of the plans allows the request. Returns like opener_allowed(). The reason is that of
 * the first plan.
 */
int opener_plans_allow(const struct opener_plans *plans, const struct opener_request *request,
		       char ret_reason[OPENER_REASON_MAX]);

#endif
