// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's replies as text for people. Pure functions: JSON in, text out. Absent values are shown as "-"
 * or left out; an unknown value is never shown as 0. All text from outside is passed through text_visible()
 * first.
 */
#ifndef PEBSD_FORMAT_H
#define PEBSD_FORMAT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

struct format_style {
	size_t width; /* columns; 0: unlimited */
	bool utf8;
	bool bold;   /* show table heads in bold; the text must be clear without bold */
	bool colour; /* use colours; the text must be clear without them */
	bool full;   /* show the paths of cgroups instead of their names */
	/* The time zone of all times, as localtime_r(3); NULL: UTC. */
	struct tm *(*zone)(const time_t *time, struct tm *ret);
};

/* Prints the replies of GetStatus, and of GetTop over the last seconds (NULL: none). */
void format_status(FILE *out, json_object *status, json_object *recent, const struct format_style *style);

/* Prints the replies of GetStatus and GetTop. */
void format_top(FILE *out, json_object *status, json_object *top, const struct format_style *style);

/*
 * Prints the replies of GetStatus and GetCgroup. `whole` is the reply of GetCgroup over the whole time, to
 * compare with (NULL: no comparison).
 */
void format_cgroup(FILE *out, json_object *status, json_object *cgroup, json_object *whole,
		   const struct format_style *style);

/* Prints the replies of GetStatus and GetHot. */
void format_hot(FILE *out, json_object *status, json_object *hot, const struct format_style *style);

/* Same as format_hot(), without the lines Cgroup and Origin, for a caller that has printed the cgroup already. */
void format_hot_places(FILE *out, json_object *status, json_object *hot, const struct format_style *style);

/* Prints the reply of GetZoom. */
void format_zoom(FILE *out, json_object *reply, time_t now, const struct format_style *style);

/*
 * Prints one line about the newest zoom of this cgroup, if there is one, from the replies of GetZooms and
 * GetCgroup.
 */
void format_zoomed(FILE *out, json_object *zooms, json_object *cgroup, time_t now,
		   const struct format_style *style);

/*
 * Prints how many samples a profile has and lacks, and how complete its stacks are, from the "zoom" object of a
 * reply.
 */
void format_zoom_samples(FILE *out, json_object *zoom, const struct format_style *style);

/* Prints the reply of GetRules. */
void format_rules(FILE *out, json_object *rules, const struct format_style *style);

/*
 * Prints the replies of GetAlerts and of GetRules. If `rules` is NULL, the text does not say how many cgroups
 * cannot be judged. `now` is used for ages.
 */
void format_alerts(FILE *out, json_object *rules, json_object *alerts, time_t now,
		   const struct format_style *style);

/*
 * Prints the reply of Explain. `status` and `figures`, the replies of GetStatus and GetCgroup over the window of the
 * rule, say which memory the cgroup waits for; NULL: not printed.
 */
void format_explain(FILE *out, json_object *explained, json_object *status, json_object *figures, time_t now,
		    const struct format_style *style);

/*
 * Prints the rule and the cgroup that were asked for, if a reply of Explain has neither. Call it before
 * format_explain().
 */
void format_explain_asked(FILE *out, json_object *explained, const char *rule, const char *cgroup,
			  const struct format_style *style);

/* Returns true if the rule of a reply of Explain judges waiting, so that format_explain() has a use for `figures`. */
bool format_explain_waits(json_object *explained);

/* Prints the reply of GetNeighbours. */
void format_neighbours(FILE *out, json_object *neighbours, const struct format_style *style);

/* Prints the reply of Compare. */
void format_compare(FILE *out, json_object *reply, const struct format_style *style);

/* Prints one item of Watch in one line. */
void format_item(FILE *out, json_object *item, const struct format_style *style);

#endif
