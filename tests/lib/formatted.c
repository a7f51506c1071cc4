// SPDX-License-Identifier: GPL-2.0
#include "formatted.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json_get.h"
#include "base/text.h"

json_object *formatted_from(const char *json)
{
	enum json_tokener_error error;
	json_object *object = json_tokener_parse_verbose(json, &error);

	cr_assert_eq(error, json_tokener_success, "no JSON: %s", json);
	return object;
}

void expect_json(json_object *got, const char *expected)
{
	_cleanup_json_ json_object *object = got;
	_cleanup_json_ json_object *printed = NULL;
	_cleanup_json_ json_object *wanted = formatted_from(expected);
	const char *text;

	cr_assert_not_null(object);
	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
	cr_assert_eq(json_parse(text, strlen(text), 32, &printed), 0, "%s", text);
	cr_expect(json_object_equal(printed, wanted), "got      %s\nexpected %s", text,
		  json_object_to_json_string_ext(wanted, JSON_C_TO_STRING_PLAIN));
}

void formatted_expect_printable(const char *text)
{
	for (const char *at = text; *at; at++)
		cr_expect(*at == '\n' || (unsigned char)*at >= ' ', "a control in: %s", text);
}

void formatted_expect_fit(const char *text, size_t width)
{
	formatted_expect_printable(text);
	while (*text) {
		size_t length = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, length);

		cr_assert_eq(text[length], '\n', "an unfinished line: %s", text);
		cr_expect_leq(text_width(line), width, "too wide: %s", line);
		cr_expect(length == 0 || line[length - 1] != ' ', "blanks at the end: '%s'", line);
		text += length + 1;
	}
}

void formatted_expect(const char *text, const char *part)
{
	cr_expect_not_null(strstr(text, part), "no '%s' in:\n%s", part, text);
}

void formatted_expect_not(const char *text, const char *part)
{
	cr_expect_null(strstr(text, part), "there is '%s' in:\n%s", part, text);
}
