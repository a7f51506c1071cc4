// SPDX-License-Identifier: GPL-2.0
/* A zoom, and what it found, as JSON. Pure. */
#ifndef PEBSD_EXPORT_JSON_ZOOM_H
#define PEBSD_EXPORT_JSON_ZOOM_H

#include <json-c/json.h>
#include <stdbool.h>

#include "detail/zooms.h"
#include "profile/profile_report.h"

/* A zoom with what its recording and its profile say of themselves. */
struct json_zoom {
	const struct zoom *zoom;
	const struct zoom_about *about;
	struct profile_totals totals;
	u64 bytes;  /* of recording and profile */
	u64 now_ns; /* CLOCK_MONOTONIC */
	bool kernel_addresses;
};

/* "running", "naming", "done". */
const char *json_zoom_state(enum zoom_state state);

/* When a running one ends; CLOCK_REALTIME. */
struct timespec json_zoom_until(const struct zoom *zoom, const struct zoom_about *about);

/* Whether any of its events has a latency. */
bool json_zoom_has_latency(const struct zoom_about *about);

/*
 * Both return a new object that the caller owns, NULL where memory is short: the state of a zoom; the reply
 * of GetZoom. Cache lines of the kernel's half have no address without `kernel_addresses`; functions have the
 * names that the report was made with.
 */
json_object *json_zoom(const struct json_zoom *zoom);
json_object *json_zoom_report(const struct json_zoom *zoom, const struct profile_report *report);

#endif
