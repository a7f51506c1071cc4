// SPDX-License-Identifier: GPL-2.0
/* The members that only replies about the past have, with the conventions of json.h. Pure. */
#ifndef PEBSD_EXPORT_JSON_PAST_H
#define PEBSD_EXPORT_JSON_PAST_H

#include <json-c/json.h>

#include "export/json/json_writer.h"
#include "history/history_state.h"
#include "history/past.h"

/* More gaps are only counted. */
#define JSON_GAPS_MAX 100

/*
 * json_put_past() adds "taken", "gaps" and, if they are absent, "since", "until" and "notes". `open`: the range ends
 * now, and its last seconds are not stored yet, which is not a gap. json_add_past() does the same to a reply, which it
 * takes and returns; NULL: no memory.
 */
void json_put_past(struct json_writer *writer, json_object *object, const struct past *past, bool open);
json_object *json_add_past(json_object *reply, const struct past *past, bool open);

/* The state of the history: type HistoryStatus of the interface. */
json_object *json_history_status(struct json_writer *writer, const struct history_state *state);

/* A gap of a reply. */
json_object *json_gap(struct json_writer *writer, const struct past_span *gap);

/* Writes a moment in microseconds since 1970 as json_put_time() does. */
void json_put_moment(struct json_writer *writer, json_object *object, const char *key, u64 us);

#endif
