// SPDX-License-Identifier: GPL-2.0
/* Why the events of a zoom could not be opened, and what to do. */
#ifndef PEBSD_ZOOM_DIAGNOSE_H
#define PEBSD_ZOOM_DIAGNOSE_H

#include <stdbool.h>

#include "origin/event.h"
#include "origin/perf/perf_backend.h"

#define ZOOM_ENABLE_MAX 256

struct zoom_facts {
	bool v1;                               /* cgroups of perf_event are a hierarchy of v1 */
	bool gone;                             /* the cgroup was removed */
	char enable[ZOOM_ENABLE_MAX];          /* zoom_facts_enable() */
	char opener[PERF_BACKEND_TROUBLE_MAX]; /* why the opener was of no help; "": nothing to say */
};

/* Whether /proc/self/cgroup's text has perf_event among the controllers of v1. Pure. */
bool zoom_facts_v1(const char *self_cgroup);

/*
 * The command that enables a first controller below the root of the cgroup2 hierarchy mounted at `mount`, ""
 * if one is enabled or none can be: `controllers` and `enabled` are the texts of the root's
 * cgroup.controllers and cgroup.subtree_control. perf_event is enabled together with the first one, and stays
 * so when that is disabled again: cgroup_calc_subtree_ss_mask() adds the implicit controllers whenever the
 * file is written, and nobody does before (cgroup_propagate_control(), kernel/cgroup/cgroup.c, Linux 6.1
 * and 6.12). Until then no cgroup has perf_event, and perf_cgroup_connect() returns -ENOENT
 * (css_tryget_online_from_dir()). Pure.
 */
void zoom_facts_enable(const char *mount, const char *controllers, const char *enabled,
		       char ret[static ZOOM_ENABLE_MAX]);

/* Whether the cgroup of a directory was removed. */
bool zoom_facts_gone(int cgroup_fd);

void zoom_facts_gather(int cgroup_fd, struct zoom_facts *ret);

/*
 * What a refusal of perf_event_open() with `error` (-errno) is to be returned as; `ret_message`, the
 * caller's (NULL: no memory), says what it was, why, and what can be done. Pure.
 */
int zoom_diagnose_open(int error, const struct event *event, int cpu, const struct zoom_facts *facts,
		       char **ret_message);

#endif
