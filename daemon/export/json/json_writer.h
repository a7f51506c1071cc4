// SPDX-License-Identifier: GPL-2.0
/*
 * Builds JSON from figures. Failures are collected, so that each object is built straight on and judged once,
 * at its end.
 */
#ifndef PEBSD_EXPORT_JSON_WRITER_H
#define PEBSD_EXPORT_JSON_WRITER_H

#include <json-c/json.h>

#include "snapshot/snapshot.h"

/* Of the objects that clients read. Within one version fields are only added. */
#define JSON_VERSION 1

struct json_writer {
	bool failed;
};

/* A string: `name`, which may hold any byte, in its shown form. */
json_object *json_name(const char *name);

/* `object`, which is noted where it is NULL. */
json_object *json_checked(struct json_writer *writer, json_object *object);

/* Both take `value`. */
void json_put(struct json_writer *writer, json_object *object, const char *key, json_object *value);
void json_append(struct json_writer *writer, json_object *array, json_object *value);

/* The same with a key that may hold any byte (a PMU's name in a replay is a recording's word), in its shown
 * form. */
void json_put_shown(struct json_writer *writer, json_object *object, const char *key, json_object *value);

/* The text of a page's items. One that is larger by itself is a page of its own. */
#define JSON_PAGE_BYTES (640U << 10)

/* A part of a list: from item `first` on, as many as fit. */
struct json_page {
	u64 first;
	struct timespec taken; /* when the list was what it is; pages of one list have the same */
	size_t bytes;          /* what the items take so far */
	bool cut;
	u64 next; /* out, if `cut`: the first item that is not in the page */
};

/* Where the page begins in a list of `n`. */
u64 json_page_first(const struct json_page *page, size_t n);

/* Whether item `index` of the list, which takes `bytes`, still fits; if not, the page ends before it. `page`
 * NULL: everything fits. */
bool json_page_fits(struct json_page *page, u64 index, size_t bytes);

/* Appends and takes `value`, if it fits: whether it did. */
bool json_append_to_page(struct json_writer *writer, json_object *array, json_object *value,
			 struct json_page *page, u64 index);

/* "next", if the page was cut, and "taken", if it is not the whole list. */
void json_put_page(struct json_writer *writer, json_object *object, const struct json_page *page);

/* The object, or NULL, and it freed, where anything failed. */
json_object *json_finish(const struct json_writer *writer, json_object *object);

void json_put_u64(struct json_writer *writer, json_object *object, const char *key, u64 value);
void json_put_text(struct json_writer *writer, json_object *object, const char *key, const char *text);
void json_put_number(struct json_writer *writer, json_object *object, const char *key, double value,
		     int decimals);

/* Cycles that are no integer, to a tenth: more digits would claim what the hardware does not measure. */
void json_put_cycles(struct json_writer *writer, json_object *object, const char *key, double cycles);
void json_put_seconds(struct json_writer *writer, json_object *object, const char *key, double seconds);

/* Nothing where the time is 0. */
void json_put_time(struct json_writer *writer, json_object *object, const char *key,
		   const struct timespec *time);

/* Counts by name, without those that are 0. */
void json_put_counts(struct json_writer *writer, json_object *object, const char *key, const u64 *counts,
		     const char *const *names, size_t n);

/* What each reply begins with: version, origin, since. And the window that it covers. */
json_object *json_start(struct json_writer *writer, const struct snapshot *snapshot);
void json_put_window(struct json_writer *writer, json_object *object, const struct snapshot *snapshot);

/* What a reader must know (struct snapshot). */
json_object *json_notes(struct json_writer *writer, const struct snapshot *snapshot);

#endif
