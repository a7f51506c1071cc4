// SPDX-License-Identifier: GPL-2.0
#include "base/json_get.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"

DEFINE_CLEANUP(json_tokener *, json_tokener_free)

static bool only_white_space(const char *text, size_t length)
{
	return strspn(text, " \t\r\n") >= length;
}

/* The count can be wrong for a text that is not JSON. */
bool json_has_too_many_values(const char *text, size_t length)
{
	size_t values = 0;
	bool in_string = false;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '"')
			in_string = !in_string;
		else if (in_string && text[i] == '\\')
			i++;
		else if (!in_string && (text[i] == ',' || text[i] == '[' || text[i] == '{'))
			values++;
	}
	return values > JSON_VALUES_MAX;
}

int json_parse(const char *text, size_t length, int depth, json_object **ret)
{
	_cleanup_(json_tokener_freep) json_tokener *tokener = json_tokener_new_ex(depth);
	_cleanup_json_ json_object *value = NULL;
	_cleanup_free_ char *terminated = NULL;

	if (length == 0 || length >= INT_MAX)
		return -EBADMSG;
	if (json_has_too_many_values(text, length))
		return -E2BIG;
	/*
	 * The tokener takes a number at the very end as complete only when it sees a NUL, so the NUL is
	 * passed as one more byte.
	 */
	terminated = strndup(text, length);
	if (!tokener || !terminated)
		return -ENOMEM;
	/*
	 * JSON_TOKENER_VALIDATE_UTF8 checks lead and continuation bytes only: it accepts overlong forms,
	 * surrogates, and code points beyond U+10FFFF.
	 */
	if (strlen(terminated) != length || !utf8_is_encoded(terminated))
		return -EBADMSG;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
	value = json_tokener_parse_ex(tokener, terminated, (int)length + 1);
	if (json_tokener_get_error(tokener) != json_tokener_success)
		return -EBADMSG;
	if (!only_white_space(terminated + json_tokener_get_parse_end(tokener),
			      length - json_tokener_get_parse_end(tokener)))
		return -EBADMSG;
	*ret = TAKE_PTR(value);
	return 0;
}

json_object *json_get(const json_object *object, const char *key)
{
	json_object *value;

	if (!json_object_is_type(object, json_type_object) || !json_object_object_get_ex(object, key, &value))
		return NULL;
	return value;
}

static json_object *get_of_type(const json_object *object, const char *key, json_type type)
{
	json_object *value = json_get(object, key);

	return json_object_is_type(value, type) ? value : NULL;
}

json_object *json_get_object(const json_object *object, const char *key)
{
	return get_of_type(object, key, json_type_object);
}

json_object *json_get_array(const json_object *object, const char *key)
{
	return get_of_type(object, key, json_type_array);
}

const char *json_get_text(const json_object *object, const char *key)
{
	json_object *value = get_of_type(object, key, json_type_string);
	const char *text = value ? json_object_get_string(value) : NULL;

	return text && strlen(text) == (size_t)json_object_get_string_len(value) ? text : NULL;
}

bool json_get_u64(const json_object *object, const char *key, u64 *ret)
{
	json_object *value = get_of_type(object, key, json_type_int);

	if (!value || json_object_get_int64(value) < 0)
		return false;
	*ret = json_object_get_uint64(value);
	return true;
}

bool json_get_double(const json_object *object, const char *key, double *ret)
{
	json_object *value = json_get(object, key);
	double number;

	if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int))
		return false;
	number = json_object_get_double(value);
	if (!isfinite(number))
		return false;
	*ret = number;
	return true;
}

bool json_get_bool(const json_object *object, const char *key, bool *ret)
{
	json_object *value = get_of_type(object, key, json_type_boolean);

	if (!value)
		return false;
	*ret = json_object_get_boolean(value);
	return true;
}
