// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's replies as text for people. Pure: JSON in, text out. What is absent is shown as "-" or not at
 * all, and what is not known never as 0. Every text from outside is made visible first.
 */
#ifndef PEBSD_FORMAT_H
#define PEBSD_FORMAT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

struct format_style {
	size_t width; /* columns; 0: as many as it takes */
	bool utf8;
	bool bold;   /* heads stand out; nothing is told by it alone */
	bool colour; /* nor by this */
};

/* Of the replies of GetStatus, and of GetTop over the last seconds (NULL where there is none). */
void format_status(FILE *out, json_object *status, json_object *recent, const struct format_style *style);

/* Of the replies of GetStatus and GetTop. */
void format_top(FILE *out, json_object *status, json_object *top, const struct format_style *style);

/*
 * Of the replies of GetStatus and GetCgroup, and of GetCgroup over all the time, to compare with (NULL where
 * it is not wanted).
 */
void format_cgroup(FILE *out, json_object *status, json_object *cgroup, json_object *whole,
		   const struct format_style *style);

/* Of the replies of GetStatus and GetHot. */
void format_hot(FILE *out, json_object *status, json_object *hot, const struct format_style *style);

/* The same without the cgroup, where that stands already. */
void format_hot_places(FILE *out, json_object *status, json_object *hot, const struct format_style *style);

/* Of the reply of GetZoom. */
void format_zoom(FILE *out, json_object *reply, time_t now, const struct format_style *style);

/* Of the replies of GetZooms and of GetCgroup: one line on the newest zoom of this cgroup, if there is one.
 */
void format_zoomed(FILE *out, json_object *zooms, json_object *cgroup, time_t now,
		   const struct format_style *style);

/* How a profile fared: what was left out of it, and what its stacks are worth; the "zoom" object of a reply.
 */
void format_zoom_samples(FILE *out, json_object *zoom, const struct format_style *style);

/* Of the reply of GetRules. */
void format_rules(FILE *out, json_object *rules, const struct format_style *style);

/* Of the replies of GetRules (NULL: what can't be judged is not told) and GetAlerts. `now`: what ages are
 * told by. */
void format_alerts(FILE *out, json_object *rules, json_object *alerts, time_t now,
		   const struct format_style *style);

/* Of the reply of Explain. */
void format_explain(FILE *out, json_object *explained, time_t now, const struct format_style *style);

/* Of the reply of GetNeighbours. */
void format_neighbours(FILE *out, json_object *neighbours, const struct format_style *style);

/* One item of Watch, in one line. */
void format_item(FILE *out, json_object *item);

#endif
