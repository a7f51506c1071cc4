// SPDX-License-Identifier: GPL-2.0
/* Explains why the events of a zoom could not be opened, and what to do. */
#ifndef PEBSD_ZOOM_DIAGNOSE_H
#define PEBSD_ZOOM_DIAGNOSE_H

#include <stdbool.h>

#include "origin/event.h"
#include "origin/perf/perf_backend.h"

#define ZOOM_ENABLE_MAX 256

struct zoom_facts {
	bool v1; /* perf_event is a controller of a cgroup v1 hierarchy */
	bool gone;
	char enable[ZOOM_ENABLE_MAX];          /* the result of zoom_facts_enable() */
	char opener[PERF_BACKEND_TROUBLE_MAX]; /* the reason why pebsd-opener could not help, or "" */
};

/*
 * Returns whether the text of /proc/self/cgroup lists perf_event as a controller of a cgroup v1 hierarchy.
 * Pure.
 */
bool zoom_facts_v1(const char *self_cgroup);

/*
 * Writes the command that enables a first controller below the root of the cgroup2 hierarchy mounted at
 * `mount`. Writes "" if a controller is enabled already or if none can be enabled. `controllers` and
 * `enabled` are the texts of the root's cgroup.controllers and cgroup.subtree_control. Pure.
 *
 * The kernel enables perf_event together with the first controller, and keeps it when that one is disabled
 * again. cgroup_calc_subtree_ss_mask() adds the implicit controllers only when the file is written
 * (cgroup_propagate_control(), kernel/cgroup/cgroup.c, Linux 6.1 and 6.12). Until then no cgroup has
 * perf_event, and perf_cgroup_connect() returns -ENOENT (css_tryget_online_from_dir()).
 */
void zoom_facts_enable(const char *mount, const char *controllers, const char *enabled,
		       char ret[static ZOOM_ENABLE_MAX]);

/* Returns whether the cgroup of an open directory was removed. */
bool zoom_facts_gone(int cgroup_fd);

void zoom_facts_gather(int cgroup_fd, struct zoom_facts *ret);

/*
 * Translates a refusal of perf_event_open() with `error` (-errno) into the error to return. Sets
 * `ret_message` to what failed, why, and what to do. The caller frees it. It is NULL if memory is short.
 * Pure.
 */
int zoom_diagnose_open(int error, const struct event *event, int cpu, const struct zoom_facts *facts,
		       char **ret_message);

#endif
