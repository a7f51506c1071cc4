// SPDX-License-Identifier: GPL-2.0
/*
 * Builds JSON objects. The writer remembers whether any step failed, so callers build an object without
 * checks and test it once, with json_finish().
 */
#ifndef PEBSD_EXPORT_JSON_WRITER_H
#define PEBSD_EXPORT_JSON_WRITER_H

#include <json-c/json.h>

#include "snapshot/snapshot.h"

/* The format of the objects that clients read. Within one version fields are only added. */
#define JSON_VERSION 1

struct json_writer {
	bool failed;
};

/* Returns `name`, which may contain any byte, as a string in its shown form. */
json_object *json_name(const char *name);

/* Returns `object`; NULL is recorded as a failure. */
json_object *json_checked(struct json_writer *writer, json_object *object);

/* json_put() and json_append() take `value`. */
void json_put(struct json_writer *writer, json_object *object, const char *key, json_object *value);
void json_append(struct json_writer *writer, json_object *array, json_object *value);

/*
 * Same as json_put(), for a key that may contain any byte: it is written in its shown form. In a replay, the
 * name of a PMU comes from the recording.
 */
void json_put_shown(struct json_writer *writer, json_object *object, const char *key, json_object *value);

/* Returns the member that json_put_shown() added under this key, borrowed; NULL: there is none. */
json_object *json_get_shown(struct json_writer *writer, const json_object *object, const char *key);

/* Maximum text of the items of one page. A larger item gets a page of its own. */
#define JSON_PAGE_BYTES (640U << 10)

/*
 * Upper bound of the memory of a page's objects. It follows from JSON_PAGE_BYTES: small objects need most, and a
 * page of code addresses without names takes 21.7 MB (test_json_detail.c measures it).
 */
#define JSON_PAGE_TREE_BYTES (32U << 20)

/* A part of a list: from item `first` on, as many as fit. */
struct json_page {
	u64 first;
	struct timespec taken; /* time at which the list was made; the same in all pages of one list */
	size_t bytes;          /* text of the items so far */
	size_t most;           /* maximum of `bytes`; 0: JSON_PAGE_BYTES */
	size_t sums;      /* cgroups that were read for the items so far; a sum reads all that are in it */
	size_t sums_most; /* maximum of `sums`, except that the first item always fits; 0: no limit */
	bool cut;
	u64 next; /* set if `cut`: the first item after the page */
};

/* Returns the index at which the page begins in a list of `n`. */
u64 json_page_first(const struct json_page *page, size_t n);

/*
 * Returns true if item `index` of the list, a text of `bytes` bytes, fits. If not, the page ends before it.
 * `page` NULL: everything fits.
 */
bool json_page_fits(struct json_page *page, u64 index, size_t bytes);

/*
 * Returns true if the page may still read `sums` cgroups for item `index` of the list. If not, the page ends before
 * the item. `page` NULL: every item may be read.
 */
bool json_page_reads(struct json_page *page, u64 index, size_t sums);

/* Takes `value`, and appends it if it fits. Returns true if it fits. */
bool json_append_to_page(struct json_writer *writer, json_object *array, json_object *value,
			 struct json_page *page, u64 index);

/*
 * `lists` lists still have to fit on the page. Gives the first of these lists an equal part of the space that
 * is left. Meant for replies that have no next page: items that do not fit are left out.
 */
void json_page_share(struct json_page *page, size_t lists);

/* Adds "next" if the page was cut, and "taken" if the page is not the whole list. */
void json_put_page(struct json_writer *writer, json_object *object, const struct json_page *page);

/* Returns the object. If any step failed, frees it and returns NULL. */
json_object *json_finish(const struct json_writer *writer, json_object *object);

void json_put_u64(struct json_writer *writer, json_object *object, const char *key, u64 value);
void json_put_text(struct json_writer *writer, json_object *object, const char *key, const char *text);
void json_put_number(struct json_writer *writer, json_object *object, const char *key, double value,
		     int decimals);

/*
 * Cycles that are not an integer, to one decimal: more would claim a precision that the hardware does not
 * have.
 */
void json_put_cycles(struct json_writer *writer, json_object *object, const char *key, double cycles);
void json_put_seconds(struct json_writer *writer, json_object *object, const char *key, double seconds);

/* Adds nothing if the time is 0. */
void json_put_time(struct json_writer *writer, json_object *object, const char *key,
		   const struct timespec *time);

/* Adds counts by name, without those that are 0. */
void json_put_counts(struct json_writer *writer, json_object *object, const char *key, const u64 *counts,
		     const char *const *names, size_t n);

/*
 * json_start_of() makes the object of a reply, with "version" and "origin". json_start() also adds "since".
 * json_put_window() adds the window of the snapshot: "window_s", null for the whole time.
 */
json_object *json_start_of(struct json_writer *writer, const char *origin);
json_object *json_start(struct json_writer *writer, const struct snapshot *snapshot);
void json_put_window(struct json_writer *writer, json_object *object, const struct snapshot *snapshot);

/* Adds "recordings": files, hosts and times of the recordings of a replay. Adds nothing for another origin. */
void json_put_recordings(struct json_writer *writer, json_object *object, const struct snapshot *snapshot);

/* The notes for readers (struct snapshot). */
json_object *json_notes(struct json_writer *writer, const struct snapshot *snapshot);

#endif
