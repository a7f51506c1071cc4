// SPDX-License-Identifier: GPL-2.0
/* Remarks about other users of the counters and CPUs, and the consequences for sampling. Pure functions. */
#ifndef PEBSD_PERF_REMARKS_H
#define PEBSD_PERF_REMARKS_H

#include "origin/perf/perf_facts.h"
#include "origin/pmu/pmu.h"

/*
 * Adds notes to a plan that has specs: about the NMI watchdog, other processes that have perf events, isolated CPUs,
 * a cgroup tree without cgroups, lowered limits of sampling, and virtual machines that run here. Adds nothing to a plan
 * without specs. Returns 0 or -ENOMEM.
 */
int perf_remarks(const struct perf_facts *facts, struct pmu_plan *plan);

/*
 * For each PMU, the CPUs on which a running pebsd holds counters. {0}: no pebsd is running, or it holds none.
 */
struct perf_running {
	size_t n;
	struct perf_in_use {
		char pmu[EVENT_PMU_MAX];
		struct cpu_list cpus;
	} in_use[EVENTS_MAX];
};

/*
 * Adds notes that `event` finds no counter on `cpus`: one for the CPUs on which the running pebsd holds the
 * counter, and one for those on which another user's pinned event does. Returns 0 or -ENOMEM.
 */
int perf_remark_taken(const struct event *event, const struct cpu_list *cpus,
		      const struct perf_running *running, bool nmi_watchdog, struct pmu_plan *plan);

#endif
