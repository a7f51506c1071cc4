// SPDX-License-Identifier: GPL-2.0
/*
 * A snapshot as JSON: what `pebsctl --json`, `pebsd --once --json` and the control socket say. Pure. Within
 * one JSON_VERSION fields are only added. What was not measured is absent. The types are written out in
 * io.pebsd.varlink. Names stand in their shown form (base/utf8.h). Each function returns a new object that
 * the caller owns, NULL where memory is short.
 */
#ifndef PEBSD_EXPORT_JSON_H
#define PEBSD_EXPORT_JSON_H

#include <json-c/json.h>

#include "export/json/json_trend.h"
#include "export/json/json_writer.h"
#include "snapshot/snapshot.h"

/* The sum over all cgroups, and each cgroup. */
json_object *json_top(const struct snapshot *snapshot);

/* The same with the `n` cgroups alone whose indexes are in `cgroups`, in that order. */
json_object *json_top_of(const struct snapshot *snapshot, const size_t *cgroups, size_t n);

/* Where text goes as it is made, without a NUL. Not 0 ends it. */
typedef int (*json_sink)(const char *text, size_t length, void *userdata);

/* What is not in every reply. */
struct json_more {
	struct json_trend trend;
	bool matching;          /* how many cgroups there are, be they told or not */
	bool histograms;        /* each cgroup has those of json_cgroup() */
	bool public;            /* for everybody (json_public.h): with the time, without ids and notes */
	struct json_page *page; /* NULL: all cgroups that are given; else its first is the first of them */
};

/*
 * The text of json_top_of(), as json-c has it with `flags` (none that adds spaces), a cgroup at a time: it
 * takes the memory of one. `cgroups` NULL: as the snapshot has them. `more` NULL: nothing of that. Returns 0,
 * the sink's answer, or -ENOMEM where what it got is not whole.
 */
int json_write_top(const struct snapshot *snapshot, const size_t *cgroups, size_t n,
		   const struct json_more *more, int flags, json_sink sink, void *userdata);

/* One cgroup with its histograms; the second with its trend, too. */
json_object *json_cgroup(const struct snapshot *snapshot, size_t index);
json_object *json_cgroup_with_trend(const struct snapshot *snapshot, size_t index,
				    const struct json_trend *trend);

/* The same of a cgroup that has no sample in the snapshot: its `events` are empty. */
json_object *json_cgroup_without_samples(const struct snapshot *snapshot, const char *path, u64 id,
					 bool alive);

/* What is sampled and how, what was lost, and how the daemon itself does. */
json_object *json_status(const struct snapshot *snapshot);

/* The part of json_status() that says which configuration is in force. */
json_object *json_config(const struct snapshot *snapshot);

#endif
