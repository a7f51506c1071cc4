// SPDX-License-Identifier: GPL-2.0
/* The neighbours of a cgroup as JSON, with the conventions of json.h. Pure. */
#ifndef PEBSD_EXPORT_JSON_NEIGHBOURS_H
#define PEBSD_EXPORT_JSON_NEIGHBOURS_H

#include <json-c/json.h>

#include "export/json/json_writer.h"
#include "neighbours/neighbours_report.h"

/*
 * `path`: the cgroup that the report is about; `page` NULL: all neighbours. Returns a new object that the
 * caller owns; NULL: no memory.
 */
json_object *json_neighbours(const char *origin, const char *path, const struct neighbours_report *report,
			     struct json_page *page);

/* "named", "self", "nobody", "thin", "steady": a constant. */
const char *json_neighbours_verdict(enum neighbours_verdict verdict);

#endif
