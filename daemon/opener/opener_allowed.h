// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which events pebsd-opener opens: only those that pebsd itself opens on this machine. For each event
 * in the tree of PMUs, it builds the attributes again, with the same functions as pebsd. Their input is the
 * plan and the caller's choices: the period, the threshold, whether the event is pinned, and the weaker
 * attributes that a kernel may demand (perf_attr_relax(), zoom_attr_weaken()). The requested event is opened
 * only if its attributes are identical in every byte.
 *
 * This excludes tracepoints, probes, breakpoints and inherited events. A sample contains no registers, and no
 * stack except a zoom's chain of addresses. Pure functions.
 *
 * The limits apply only to opening: pebsd may later change the period of an event that it holds
 * (PERF_EVENT_IOC_PERIOD).
 */
#ifndef PEBSD_OPENER_ALLOWED_H
#define PEBSD_OPENER_ALLOWED_H

#include "origin/opener/opener_wire.h"
#include "origin/pmu/pmu.h"

/* All events and counters that pebsd can be configured for. */
#define OPENER_ROLES ((1U << EVENT_ROLES) - 1)

/*
 * Returns the threshold of load latency in the attributes, assuming that their event has one (format/ldlat:
 * config1:0-15, of IBS config1:0-11). The plan to compare with is made for this threshold. Returns 0 if it is
 * not a threshold that can be planned.
 */
u32 opener_ldlat(const struct perf_event_attr *attr);

/*
 * Decides whether the request matches `plan`, which has some of OPENER_ROLES (opener_plans.h) and was made
 * for the request's threshold. Returns 0, or -EACCES with the reason in printable ASCII.
 */
int opener_allowed(const struct pmu_plan *plan, const struct opener_request *request,
		   char ret_reason[OPENER_REASON_MAX]);

#endif
