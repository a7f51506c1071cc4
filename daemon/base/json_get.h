// SPDX-License-Identifier: GPL-2.0
/*
 * Reads JSON from untrusted sources. A member that is missing or has another type is reported as absent,
 * never replaced by a default.
 */
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
 * Maximum number of values in a text. Each opening bracket and each comma counts as one. json-c 0.16 takes
 * 0.8 KiB for an object in an array, which is three bytes of text: 64 MiB of text could take 17 GiB. With
 * this bound no text takes more than 1 GiB besides its strings.
 */
#define JSON_VALUES_MAX 2000000

/* Whether json_parse() refuses the text for its number of values. */
bool json_has_too_many_values(const char *text, size_t length);

/*
 * Parses `text` as strict JSON in UTF-8, nested at most `depth` levels deep. Only white space may surround
 * the value. Returns 0, -EBADMSG, -ENOMEM, or -E2BIG for more than JSON_VALUES_MAX values. The caller owns
 * `*ret`, which is NULL for the JSON value `null`.
 */
int json_parse(const char *text, size_t length, int depth, json_object **ret);

/*
 * Returns member `key` as a borrowed reference. NULL: the member is absent or null, or `object` is NULL or
 * not an object.
 */
json_object *json_get(const json_object *object, const char *key);

/* Same as json_get(), but returns NULL for a member of another type. */
json_object *json_get_object(const json_object *object, const char *key);
json_object *json_get_array(const json_object *object, const char *key);

/* Returns a borrowed string without NUL bytes, or NULL. */
const char *json_get_text(const json_object *object, const char *key);

/*
 * Return whether the member exists with the right type. A negative number does not count for json_get_u64(), and a
 * number that is infinite or too large does not count for json_get_double().
 */
bool json_get_u64(const json_object *object, const char *key, u64 *ret);
bool json_get_double(const json_object *object, const char *key, double *ret);
bool json_get_bool(const json_object *object, const char *key, bool *ret);

#endif
