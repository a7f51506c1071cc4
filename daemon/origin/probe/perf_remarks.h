// SPDX-License-Identifier: GPL-2.0
/* Who else uses the counters and CPUs of this machine, and what that means for sampling. Pure. */
#ifndef PEBSD_PERF_REMARKS_H
#define PEBSD_PERF_REMARKS_H

#include "origin/perf/perf_facts.h"
#include "origin/pmu/pmu.h"

/*
 * Adds to a plan with openings what its reader should know of the NMI watchdog, of isolated CPUs, of a cgroup
 * tree without cgroups, of lowered limits of sampling, and of virtual machines that run here; to one without,
 * nothing. Returns 0 or -ENOMEM.
 */
int perf_remarks(const struct perf_facts *facts, struct pmu_plan *plan);

/* Where a pebsd that is running already has events on their counters, by PMU. {0}: none runs, or it holds
 * none. */
struct perf_running {
	size_t n;
	struct perf_held {
		char pmu[EVENT_PMU_MAX];
		struct cpu_list cpus;
	} held[EVENTS_MAX];
};

/*
 * That `event` finds no counter on `cpus`: which of these the running pebsd holds, and where somebody else's
 * pinned event has it. Returns 0 or -ENOMEM.
 */
int perf_remark_taken(const struct event *event, const struct cpu_list *cpus,
		      const struct perf_running *running, bool nmi_watchdog, struct pmu_plan *plan);

#endif
