// SPDX-License-Identifier: GPL-2.0
/* Who else uses the counters and CPUs of this machine, and what that means for sampling. Pure. */
#ifndef PEBSD_PERF_REMARKS_H
#define PEBSD_PERF_REMARKS_H

#include "origin/perf/perf_facts.h"
#include "origin/perf/pmu.h"

/*
 * Adds to a plan with openings what its reader should know of the NMI watchdog, of isolated CPUs, of a cgroup
 * tree without cgroups, of lowered limits of sampling, and of virtual machines that run here; to one without,
 * nothing. Returns 0 or -ENOMEM.
 */
int perf_remarks(const struct perf_facts *facts, struct pmu_plan *plan);

/* That `event` finds no counter on `cpus`, where somebody else's pinned event has it. Returns 0 or -ENOMEM.
 */
int perf_remark_taken(const struct event *event, const struct cpu_list *cpus, bool nmi_watchdog,
		      struct pmu_plan *plan);

#endif
