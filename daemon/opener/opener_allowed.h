// SPDX-License-Identifier: GPL-2.0
/*
 * Which events the opener opens: those that pebsd itself opens on this machine, and no other. For each event
 * that the tree of PMUs offers, the attributes are built anew, by the same functions as pebsd's, from the
 * plan and from what the caller may choose: period, threshold, whether it is pinned, and the weaker ways that
 * a kernel may want (perf_attr_relax(), zoom_attr_weaken()). What was asked for is then opened if it is the
 * same in every byte. So there are no tracepoints, probes or breakpoints, nothing is inherited, and a sample
 * holds no registers and no stack but for a zoom's chain of addresses. Pure.
 *
 * The bounds are those of opening: of an event that it has, pebsd may change the period
 * (PERF_EVENT_IOC_PERIOD).
 */
#ifndef PEBSD_OPENER_ALLOWED_H
#define PEBSD_OPENER_ALLOWED_H

#include "origin/opener/opener_wire.h"
#include "origin/pmu/pmu.h"

/* Every event and counter that pebsd may be configured for. */
#define OPENER_ROLES (1U << EVENT_LOADS | 1U << EVENT_STORES | 1U << EVENT_INSTRUCTIONS | 1U << EVENT_OFFCORE)

/*
 * The threshold of load latency that the attributes have if they are of an event that has one, by where that
 * stands (format/ldlat: config1:0-15; of IBS config1:0-11): for the plan to hold them against. 0: none that
 * can be planned.
 */
u32 opener_ldlat(const struct perf_event_attr *attr);

/*
 * `plan`: of some of OPENER_ROLES (opener_plans.h), for that threshold. Returns 0, or -EACCES with the
 * reason, which is of printable ASCII.
 */
int opener_allowed(const struct pmu_plan *plan, const struct opener_request *request,
		   char ret_reason[OPENER_REASON_MAX]);

#endif
