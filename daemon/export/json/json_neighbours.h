// SPDX-License-Identifier: GPL-2.0
/* The neighbours of a cgroup as JSON, with the conventions of json.h. Pure. */
#ifndef PEBSD_EXPORT_JSON_NEIGHBOURS_H
#define PEBSD_EXPORT_JSON_NEIGHBOURS_H

#include <json-c/json.h>

#include "export/json/json_writer.h"
#include "neighbours/neighbours_report.h"
#include "policy/alert.h"

/*
 * `path`: the cgroup that the report is about; `page` NULL: all neighbours. Returns a new object that the
 * caller owns; NULL: no memory.
 */
json_object *json_neighbours(const char *origin, const char *path, const struct neighbours_report *report,
			     struct json_page *page);

/* The function that finds the neighbours of a cgroup, as neighbours_report(), and those of them that may be named. */
struct json_suspects {
	int (*find)(void *userdata, const char *path,
		    struct neighbours_report **ret); /* NULL: none are named */
	void *userdata;
	bool (*may_name)(const char *path, const void *names); /* NULL: all */
	const void *names;
};

#define JSON_SUSPECTS_MAX 3

/*
 * Finds the neighbours that may be the cause of alerts on one cgroup. Sets *ret to a new array of sentences about the
 * strongest JSON_SUSPECTS_MAX that are named, or to NULL if none is, or if the alerts have another cause
 * (explain_asks_neighbours()). Returns 0 or -ENOMEM.
 */
int json_suspects(const struct json_suspects *suspects, const struct alert *alerts, size_t n,
		  json_object **ret);

/* "named", "self", "nobody", "thin", "steady", "episode": a constant. */
const char *json_neighbours_verdict(enum neighbours_verdict verdict);

#endif
