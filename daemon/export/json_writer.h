// SPDX-License-Identifier: GPL-2.0
/*
 * Builds JSON from figures. Failures are collected, so that each object is built straight on and judged once,
 * at its end.
 */
#ifndef PEBSD_EXPORT_JSON_WRITER_H
#define PEBSD_EXPORT_JSON_WRITER_H

#include <json-c/json.h>

#include "snapshot.h"

struct json_writer {
	bool failed;
};

/* `object`, which is noted where it is NULL. */
json_object *json_checked(struct json_writer *writer, json_object *object);

/* Both take `value`. */
void json_put(struct json_writer *writer, json_object *object, const char *key, json_object *value);
void json_append(struct json_writer *writer, json_object *array, json_object *value);

/* The same with a key that may hold any byte (a PMU's name in a replay is a recording's word), in its shown
 * form. */
void json_put_shown(struct json_writer *writer, json_object *object, const char *key, json_object *value);

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
