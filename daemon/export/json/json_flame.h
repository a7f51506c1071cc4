// SPDX-License-Identifier: GPL-2.0
/* A zoom for the page at /: its flame tree, and its contended cache lines. Pure functions. */
#ifndef PEBSD_EXPORT_JSON_FLAME_H
#define PEBSD_EXPORT_JSON_FLAME_H

#include <json-c/json.h>

#include "export/json/json_writer.h"
#include "export/json/json_zoom.h"
#include "profile/flame.h"

/* The report must have been made with these limits, and `by_cpu`. */
#define JSON_FLAME_NODES_MAX    2000
#define JSON_FLAME_LINES_MAX    16
#define JSON_FLAME_ACCESSES_MAX 64

/*
 * Returns a new object that the caller owns, or NULL if memory runs out. Lines have addresses only if `addresses`.
 * Lines in the kernel's half of the address space never have.
 */
json_object *json_flame(const struct json_zoom *zoom, const struct flame *flame,
			const struct profile_report *report, bool addresses);

#endif
