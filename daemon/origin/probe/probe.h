// SPDX-License-Identifier: GPL-2.0
/*
 * `pebsd --probe`: reports what this machine can sample, what it cannot, why, and what sampling would cost.
 */
#ifndef PEBSD_PROBE_H
#define PEBSD_PROBE_H

#include <stdio.h>

#include "origin/perf/perf_cost.h"
#include "origin/pmu/perf_selection.h"
#include "origin/pmu/pmu.h"
#include "origin/probe/perf_remarks.h"

#define PROBE_USABLE   0
#define PROBE_UNUSABLE 3

struct probe_request {
	const char *sysfs_root;    /* "/sys", or the root of a copy */
	struct pmu_request events; /* `roles` are those that the configuration asks for */
	u32 slots;                 /* slots in the table of cgroups; 0: chosen by the number of cgroups */
	u32 hot_max;               /* maximum number of cgroups with hot tables at a time */
	unsigned leave_counters;   /* `leave-counters` in [sampling] */
	struct perf_selection selection;
	struct perf_running running; /* counters of a running pebsd, not of another program */
};

/* The findings. Specs that the configuration asks for come first. */
struct probe_report {
	struct pmu_plan plan;
	unsigned asked;              /* requested roles: 1 << enum event_role */
	unsigned leave_counters;     /* copied from the request */
	struct perf_running running; /* copied from the request */
	bool live;                   /* the running system was probed; if false, only a tree was read */
	u32 cpus;              /* possible CPUs if `live`, else those of the planned events; 0: not known */
	u32 stripes;           /* stripes of a slot on these CPUs */
	bool slots_by_cgroups; /* `measured.slots` was chosen by the number of cgroups */
	struct perf_cost_facts measured;
	size_t timed; /* the time in `measured` is the mean of this many openings */
};

/*
 * Plans every role. A role that the configuration does not ask for is planned as if it were added to those it
 * asks for. If the tree is "/sys", also opens each event for a moment, loads the BPF programs and looks for
 * obstacles, so that refusals give the kernel's own reason. Then prints the report to `out`, as text or as JSON,
 * even if nothing can be sampled.
 *
 * Returns the exit code: PROBE_USABLE if probe_usable(), otherwise PROBE_UNUSABLE. Returns -errno if it
 * cannot print or `request` is out of range.
 */
int probe_run(const struct probe_request *request, bool json, FILE *out);

/*
 * The steps of probe_run(). They return 0 or -errno. Free a report with probe_report_done(), also after an
 * error.
 */
int probe_plan(const struct probe_request *request, struct probe_report *ret);
void probe_report_done(struct probe_report *report);

/*
 * The live part. Moves specs and counters that the kernel refuses to the refusals. Changes the other
 * specs to the attributes that the kernel accepted, and measures costs. Returns 0 or -ENOMEM.
 */
int probe_try(struct probe_report *report);

/* Print the report, and do nothing else. They return 0 or -errno. */
int probe_print_text(const struct probe_report *report, FILE *out);
int probe_print_json(const struct probe_report *report, FILE *out);

#endif
