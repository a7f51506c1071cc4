// SPDX-License-Identifier: GPL-2.0
/* For `pebsd --probe`: the counters that a pebsd which is running already holds, by its own status. */
#ifndef PEBSD_PROBE_RUNNING_H
#define PEBSD_PROBE_RUNNING_H

#include <json-c/json.h>

#include "origin/probe/perf_remarks.h"

/* The reply to io.pebsd.GetStatus (any JSON). Holds nothing while it is paused, or samples no PMU. */
void probe_running_read(const json_object *status, struct perf_running *ret);

/* Asks the one that listens on this socket. Holds nothing if none answers. */
void probe_running_ask(const char *socket, struct perf_running *ret);

#endif
