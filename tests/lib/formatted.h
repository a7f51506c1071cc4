// SPDX-License-Identifier: GPL-2.0
/* Checks the text that formatters of pebsctl print. */
#ifndef PEBSD_TESTS_FORMATTED_H
#define PEBSD_TESTS_FORMATTED_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the text that `calls` print to `out`. The caller frees it. */
#define FORMATTED(calls)                                      \
	({                                                    \
		char *_text = NULL;                           \
		size_t _length;                               \
		FILE *out = open_memstream(&_text, &_length); \
		cr_assert_not_null(out);                      \
		calls;                                        \
		(void)fclose(out);                            \
		_text;                                        \
	})

/* Parses a text that must be JSON, but may have ' around names and text. The caller puts the object. */
json_object *formatted_from(const char *json);

/*
 * Expects that the printed JSON equals `expected`, with no member more or less. `expected` may have ' around names and
 * text. Takes ownership of `got`.
 */
void expect_json(json_object *got, const char *expected);

/* Expects no control character but line ends. */
void formatted_expect_printable(const char *text);

/* Expects that no line is wider than `width`, ends in blanks, or contains a control character. */
void formatted_expect_fit(const char *text, size_t width);

void formatted_expect(const char *text, const char *part);
void formatted_expect_not(const char *text, const char *part);

#endif
