// SPDX-License-Identifier: GPL-2.0
/*
 * The neighbours of a cgroup, from what the engine holds of the last minutes and the CPUs that each may use.
 *
 * Bins of 5 s, or of a collection where that is longer, over at most the last 10 minutes; a bin with fewer
 * than 8 latencies of the cgroup has none. Traffic: what samples of loads stand for that were served by the
 * L3 or beyond (window/traffic.h), on all core PMUs; latency: of the one that sampled the cgroup most. What
 * lies below the cgroup counts as its own traffic, and what lies above it as nobody's.
 */
#ifndef PEBSD_NEIGHBOURS_REPORT_H
#define PEBSD_NEIGHBOURS_REPORT_H

#include "base/cleanup.h"
#include "engine/engine.h"
#include "neighbours/neighbours.h"

#define NEIGHBOURS_REPORT_MAX 256

struct neighbours_report {
	struct neighbours ranking;
	char **cgroups; /* the candidates' paths, by index; n_cgroups of them */
	size_t n_cgroups;
	char event[EVENT_KEY_MAX]; /* whose latency it is */
	double bin_seconds;        /* mean */
	double covered_seconds;
	size_t apart;     /* cgroups left out: their CPUs share no node with this one's */
	size_t beyond;    /* not looked at: NEIGHBOURS_REPORT_MAX others had more traffic */
	bool nodes_known; /* else all cgroups are candidates (no cpuset, a replay, the model) */
};

/*
 * `cgroup_root_fd`: the cgroup2 mount, where the paths are of the running kernel; -1: they are not.
 * `sysfs_root`: "/sys", for the nodes. Returns 0, -ENOENT for a path that was never sampled, -ENODATA where
 * no event of loads has a latency and a data source or nothing was collected, -ENOMEM. Free with
 * neighbours_report_free().
 */
int neighbours_report(struct engine *engine, int cgroup_root_fd, const char *sysfs_root, const char *path,
		      struct neighbours_report **ret);

/* What neighbours_report() takes of an engine. */
struct neighbours_sources {
	const struct window *window;
	struct ledger_entry *const *entries; /* ascending by number, the victim's among them */
	size_t n_entries;
	const struct ledger_entry *victim;
	const struct snapshot *head; /* its events and interval are read */
};
int neighbours_report_make(const struct neighbours_sources *sources, int cgroup_root_fd,
			   const char *sysfs_root, struct neighbours_report **ret);

struct neighbours_report *neighbours_report_free(struct neighbours_report *report);
DEFINE_CLEANUP(struct neighbours_report *, neighbours_report_free)

#endif
