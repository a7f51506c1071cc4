// SPDX-License-Identifier: GPL-2.0
/* The neighbours of a cgroup as JSON, with the conventions of json.h. Pure. */
#ifndef PEBSD_EXPORT_JSON_NEIGHBOURS_H
#define PEBSD_EXPORT_JSON_NEIGHBOURS_H

#include <json-c/json.h>

#include "export/json/json_writer.h"
#include "history/past.h"
#include "neighbours/neighbours_report.h"
#include "policy/alert.h"

/*
 * `path`: the cgroup that the report is about; `page` NULL: all neighbours. Returns a new object that the
 * caller owns; NULL: no memory.
 */
json_object *json_neighbours(const char *origin, const char *path, const struct neighbours_report *report,
			     struct json_page *page);

/* Functions that find the neighbours of a cgroup, and one that says which of them may be named. */
struct json_suspects {
	int (*find)(void *userdata, const char *path,
		    struct neighbours_report **ret); /* neighbours_report(); NULL: none are named */
	past_get past;                               /* NULL: no history is kept */
	int (*past_neighbours)(void *userdata, const struct past *past, const char *path,
			       struct neighbours_report **ret); /* past_neighbours() */
	void *userdata;
	time_t now;
	/* Returns true if the neighbour may be named. `past` NULL: it is of the present. NULL: all may be named. */
	bool (*may_name)(const char *path, const struct past *past, const void *names);
	const void *names;
};

#define JSON_SUSPECTS_MAX 3

/*
 * Finds the neighbours that may be the cause of alerts on one cgroup. Sets *ret to a new array of sentences about the
 * strongest JSON_SUSPECTS_MAX that are named, or to NULL if none is, or if the alerts have another cause
 * (explain_asks_neighbours()).
 *
 * The evidence about a resolved alert must cover the whole time of the alert. The report of the last minutes is used if
 * it reaches back to the breach. Otherwise a report of the past is made, from NEIGHBOURS_REPORT_SPAN_NS before the
 * breach to as long after the end. If the alert lasted longer than that, its duration is taken instead, before and
 * after.
 *
 * Returns 0, -ENOMEM, or -EAGAIN: the history was asked, ask again as for `past`.
 */
int json_suspects(const struct json_suspects *suspects, const struct alert *alerts, size_t n,
		  json_object **ret);

/*
 * Does the same for the first alert in `explained`, a reply of json_explain_past(), that had fired. An alert that had
 * not resolved then ends at `taken`. Adds the sentences to those of the alert.
 */
int json_past_suspects(const struct json_suspects *suspects, json_object *explained);

/* "named", "self", "nobody", "thin", "steady", "episode": a constant. */
const char *json_neighbours_verdict(enum neighbours_verdict verdict);

#endif
