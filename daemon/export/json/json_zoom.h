// SPDX-License-Identifier: GPL-2.0
/* A zoom and its report as JSON. Pure functions. */
#ifndef PEBSD_EXPORT_JSON_ZOOM_H
#define PEBSD_EXPORT_JSON_ZOOM_H

#include <json-c/json.h>
#include <stdbool.h>

#include "detail/zooms.h"
#include "export/json/json_writer.h"
#include "profile/profile_report.h"

/* A zoom, with the metadata of its recording and the totals of its profile. */
struct json_zoom {
	const struct zoom *zoom;
	const struct zoom_about *about;
	struct profile_totals totals;
	u64 bytes;  /* memory of recording and profile */
	u64 now_ns; /* CLOCK_MONOTONIC */
	bool kernel_addresses;
};

/* "running", "naming", "done". */
const char *json_zoom_state(enum zoom_state state);

/* Returns the time at which a running zoom will end; CLOCK_REALTIME. */
struct timespec json_zoom_until(const struct zoom *zoom, const struct zoom_about *about);

/* Returns true if any event of the zoom has a latency. */
bool json_zoom_has_latency(const struct zoom_about *about);

/*
 * The state of a zoom, and the reply of GetZoom. Both return a new object that the caller owns, or NULL if
 * memory runs out. Without `kernel_addresses` cache lines in the kernel's half of the address space have
 * no address. Functions have the names that were used to make the report.
 */
json_object *json_zoom(const struct json_zoom *zoom);
json_object *json_zoom_report(const struct json_zoom *zoom, const struct profile_report *report);

/*
 * Members of several objects of a report: the file and line, as far as they are known, and what accesses to a place in
 * a cache line have in common.
 */
void json_put_source_line(struct json_writer *writer, json_object *object, const char *file, u32 line);
void json_put_access(struct json_writer *writer, json_object *object, const struct report_access *access);

#endif
