// SPDX-License-Identifier: GPL-2.0
/*
 * The lines that must precede any table: the origin of its samples, the operations that are sampled, and the
 * number of lost samples. Pure functions.
 */
#ifndef PEBSD_FORMAT_EVENT_H
#define PEBSD_FORMAT_EVENT_H

#include "format/line.h"

/* Returns a reply's origin: "perf", "replay", or "model (no measurement)". `kept`: see line_visible(). */
const char *format_origin_name(json_object *reply, char **kept);

/*
 * Prints one line for each recording of a replay: file, host, CPU, kernel and time, as far as the recording has
 * them. Prints nothing for another origin.
 */
void format_recordings(FILE *out, const struct format_style *style, json_object *reply);

/* Prints "perf since 2026-11-21 06:00:00 UTC, window 10s". */
void format_origin(FILE *out, const struct format_style *style, const char *label, json_object *reply);

/*
 * Prints the event's period and ldlat, the kind of its latency or what it counts, and how long cycles are, if that is
 * known. `event` is its entry in GetStatus.
 */
void format_event(FILE *out, const struct format_style *style, const char *label, const char *key,
		  json_object *event);

/* Prints the first line of status, from the reply of GetStatus. In format_state.c. */
void format_state(FILE *out, const struct format_style *style, json_object *status);

/* If sampling is paused, prints the end of the pause. */
void format_pause(FILE *out, const struct format_style *style, json_object *status);

/*
 * Prints how many cgroups have no slot, and some of their names, from a status or a top. Returns true if
 * there are any.
 */
bool format_no_slot(FILE *out, const struct format_style *style, json_object *object);

/*
 * Prints how many samples were seen, unattributed and lost, from an object of type Samples. `seconds`: the
 * time that they cover; 0: print no rate.
 */
void format_samples(FILE *out, const struct format_style *style, json_object *samples, double seconds);

/*
 * Returns "0 malformed, 3 unexplained"; `none` if `counts` is NULL or empty; NULL: no memory. The caller
 * frees it.
 */
char *format_counts(json_object *counts, const char *none);

#endif
