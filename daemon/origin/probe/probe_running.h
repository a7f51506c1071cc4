// SPDX-License-Identifier: GPL-2.0
/* For `pebsd --probe`: finds the counters that a running pebsd holds, from its status. */
#ifndef PEBSD_PROBE_RUNNING_H
#define PEBSD_PROBE_RUNNING_H

#include <json-c/json.h>

#include "origin/probe/perf_remarks.h"

/*
 * Reads the reply to io.pebsd.GetStatus, which may be any JSON. A pebsd that is paused or samples no PMU
 * holds no counters.
 */
void probe_running_read(const json_object *status, struct perf_running *ret);

/* Asks the pebsd that listens on this socket. If none answers, `ret` is empty: no pebsd holds counters. */
void probe_running_ask(const char *socket, struct perf_running *ret);

#endif
