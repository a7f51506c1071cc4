// SPDX-License-Identifier: GPL-2.0
/* Reading JSON that came from outside: what is absent or of another type is "no", never a default. */
#ifndef PEBSD_JSON_GET_H
#define PEBSD_JSON_GET_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

DEFINE_CLEANUP(json_object *, json_object_put)
#define _cleanup_json_ _cleanup_(json_object_putp)

/*
 * A text has at most so many values, each opening bracket and each comma counted as one. json-c 0.16 takes
 * 0.8 KiB for an object with its place in a list, which is three bytes of text: a text of 64 MiB could take
 * 17 GiB. With this bound no text takes more than 1 GiB beside its strings.
 */
#define JSON_VALUES_MAX 2000000

/*
 * The JSON value in `text`, which must be all of it but for white space, as strict JSON in UTF-8, at most
 * `depth` levels deep. Returns 0 or -EBADMSG; -E2BIG: it has more than JSON_VALUES_MAX values; -ENOMEM. `ret`
 * is the caller's; NULL for `null`.
 */
int json_parse(const char *text, size_t length, int depth, json_object **ret);

/* Member `key`, or NULL: absent, null, or `object` is NULL or no object. Borrowed. */
json_object *json_get(const json_object *object, const char *key);

/* The same, of that type or NULL. */
json_object *json_get_object(const json_object *object, const char *key);
json_object *json_get_array(const json_object *object, const char *key);

/* A text without NUL bytes, or NULL. Borrowed. */
const char *json_get_text(const json_object *object, const char *key);

/* Return whether the member is there with the right type and, for json_get_u64, not negative. */
bool json_get_u64(const json_object *object, const char *key, u64 *ret);
bool json_get_double(const json_object *object, const char *key, double *ret);
bool json_get_bool(const json_object *object, const char *key, bool *ret);

#endif
