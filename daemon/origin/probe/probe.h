// SPDX-License-Identifier: GPL-2.0
/* `pebsd --probe`: what this machine can sample, what it cannot, why, and what it would cost. */
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
	const char *sysfs_root; /* "/sys", or where a copy of one is */
	struct pmu_wish events; /* `roles`: those that the configuration asks for */
	u32 slots;              /* of the table of cgroups; 0: by the cgroups there are */
	u32 hot_max;            /* cgroups that may have hot tables at a time */
	struct perf_selection selection;
	struct perf_running running; /* whose counters are not free, and no other user's either */
};

/* What was found out. Openings that the configuration asks for come first. */
struct probe_report {
	struct pmu_plan plan;
	unsigned asked;              /* 1 << enum event_role */
	struct perf_running running; /* the wish's */
	bool live;                   /* the running system was asked; else a tree was read */
	u32 cpus;                    /* possible ones; 0: not known */
	u32 stripes;                 /* of a slot, on those */
	bool slots_by_cgroups;       /* the slots of `measured` were chosen by the cgroups there are */
	struct perf_cost_facts measured;
	size_t timed; /* events that the time in `measured` is the mean of */
};

/*
 * Plans every role, whatever the configuration asks for: those it does not, each as it would come beside
 * those it does. Where the tree is "/sys" also opens each event once, loads the BPF programs, and asks what
 * stands in the way, so that refusals carry the kernel's own reason. Prints to `out` in every case, as text
 * or as JSON. Returns the exit code: PROBE_USABLE where probe_usable(), else
 * PROBE_UNUSABLE; -errno where it cannot print or `wish` is out of range.
 */
int probe_run(const struct probe_request *wish, bool json, FILE *out);

/* The steps of it. Return 0 or -errno; a report is to be freed with probe_report_done(), whatever they
 * return. */
int probe_plan(const struct probe_request *wish, struct probe_report *ret);
void probe_report_done(struct probe_report *report);

/*
 * The live part: moves what the kernel refuses from the openings and counters to the refusals, sets the rest
 * to how it took them, and measures. Returns 0 or -ENOMEM.
 */
int probe_try(struct probe_report *report);

/* The printing alone. Return 0 or -errno. */
int probe_print_text(const struct probe_report *report, FILE *out);
int probe_print_json(const struct probe_report *report, FILE *out);

#endif
