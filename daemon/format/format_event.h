// SPDX-License-Identifier: GPL-2.0
/* What must stand over any figure: where it comes from, what it is a figure of, and what was lost. Pure. */
#ifndef PEBSD_FORMAT_EVENT_H
#define PEBSD_FORMAT_EVENT_H

#include "format/line.h"

/* A reply's origin: "perf", "replay", or "model (no measurement)". `kept`: as line_visible(). */
const char *format_origin_name(json_object *reply, char **kept);

/* "perf since 2026-11-21 06:00:00 UTC, window 10s". */
void format_origin(FILE *out, const struct format_style *style, const char *label, json_object *reply);

/* The event's period and ldlat, and what a latency of it is. `event` is its entry in GetStatus. */
void format_event(FILE *out, const struct format_style *style, const char *label, const char *key,
		  json_object *event);

/* Until when sampling rests, where it does. */
void format_pause(FILE *out, const struct format_style *style, json_object *status);

/* Cgroups that have no slot, of a status or a top: how many, and some by name. Returns whether there are any. */
bool format_no_slot(FILE *out, const struct format_style *style, json_object *object);

/* What became of the samples: an object of type Samples. `seconds`: the time they took, 0 for no rate. */
void format_samples(FILE *out, const struct format_style *style, json_object *samples, double seconds);

/* "0 malformed, 3 unexplained"; `none` where `counts` is NULL or empty. NULL: no memory. The caller frees. */
char *format_counts(json_object *counts, const char *none);

#endif
