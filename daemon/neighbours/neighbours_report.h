// SPDX-License-Identifier: GPL-2.0
/*
 * Reports the neighbours of a cgroup. It reads the engine's windows of the last minutes, and the CPUs that
 * each cgroup may use.
 *
 * A bin is 5 s long, or one collection if that is longer. The bins cover at most the last 10 minutes. A bin
 * with fewer than 8 latencies of the cgroup has no latency.
 *
 * Traffic is the misses of the last level cache, on all core PMUs, times the 64 bytes of a line. If a PMU that
 * samples loads does not sample misses, or its misses ran for less than a hundredth of the time, traffic is the sum
 * of the periods of the load samples that the L3 or a level beyond it served (neighbours/traffic.h). The latency is
 * that of the event that sampled the cgroup most.
 *
 * Traffic of cgroups below the cgroup counts as its own. Traffic of cgroups above it is ignored.
 */
#ifndef PEBSD_NEIGHBOURS_REPORT_H
#define PEBSD_NEIGHBOURS_REPORT_H

#include "base/cleanup.h"
#include "engine/engine.h"
#include "neighbours/neighbours.h"

#define NEIGHBOURS_REPORT_MAX 256
#define NEIGHBOURS_LOOKED_AT_MAX \
	1024 /* cgroups whose CPUs are read, because the reader of the report waits */
#define NEIGHBOURS_REPORT_SPAN_NS (600 * NSEC_PER_SEC) /* covered by the bins, at most */

struct neighbours_report {
	struct neighbours ranking;
	char **cgroups; /* the candidates' paths, by index; n_cgroups of them */
	size_t n_cgroups;
	char event[EVENT_KEY_MAX]; /* the event that the latency is from */
	bool misses;        /* traffic is misses, in bytes a second; false: weighted samples a second */
	double bin_seconds; /* mean length of a bin */
	double covered_seconds;
	size_t apart;     /* cgroups left out because their CPUs share no node with this one's */
	size_t beyond;    /* cgroups left out because others had more traffic: see the two limits */
	bool nodes_known; /* false: all cgroups are candidates (no cpuset, a replay, the model) */
};

/*
 * `cgroup_root_fd` is the cgroup2 mount, or -1 if the paths are not of the running kernel. `sysfs_root` is
 * "/sys"; the nodes are read there. Returns 0 or -ENOMEM. Returns -ENOENT if the path was never sampled.
 * Returns -ENODATA if no load event has both a latency and a data source, or if there was no collection yet.
 * The caller frees the report with neighbours_report_free().
 */
int neighbours_report(struct engine *engine, int cgroup_root_fd, const char *sysfs_root, const char *path,
		      struct neighbours_report **ret);

/* The data that neighbours_report() reads from an engine. */
struct neighbours_sources {
	const struct window *window;
	const struct readings *readings;     /* NULL: the events ran all the time */
	u64 now_ns;                          /* the last collection, for `readings` */
	u64 span_ns;                         /* covered by the bins, at most; 0: 10 minutes */
	struct totals_entry *const *entries; /* ascending by number, including the victim */
	size_t n_entries;
	const struct totals_entry *victim;
	const struct snapshot *head; /* for its events and interval */
};
int neighbours_report_make(const struct neighbours_sources *sources, int cgroup_root_fd,
			   const char *sysfs_root, struct neighbours_report **ret);

struct neighbours_report *neighbours_report_free(struct neighbours_report *report);
DEFINE_CLEANUP(struct neighbours_report *, neighbours_report_free)

#endif
