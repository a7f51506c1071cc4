// SPDX-License-Identifier: GPL-2.0
/* Why the events of a zoom could not be opened, and what to do. */
#ifndef PEBSD_ZOOM_DIAGNOSE_H
#define PEBSD_ZOOM_DIAGNOSE_H

#include <stdbool.h>

#include "origin/event.h"
#include "origin/perf/perf_door.h"

struct zoom_facts {
	bool v1;                            /* cgroups of perf_event are a hierarchy of v1 */
	bool gone;                          /* the cgroup was removed */
	char opener[PERF_DOOR_TROUBLE_MAX]; /* why the opener was of no help; "": nothing to say */
};

/* Whether /proc/self/cgroup's text has perf_event among the controllers of v1. Pure. */
bool zoom_facts_v1(const char *self_cgroup);

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
