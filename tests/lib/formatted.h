// SPDX-License-Identifier: GPL-2.0
/* Text that a formatter of pebsctl made. */
#ifndef PEBSD_TESTS_FORMATTED_H
#define PEBSD_TESTS_FORMATTED_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdio.h>

/* The text of calls that print to `out`; the caller frees. */
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

/* Of a text that must be JSON; the caller puts it. */
json_object *formatted_from(const char *json);

/* No line is wider, ends in blanks, or has a byte that a terminal obeys. */
void formatted_expect_fit(const char *text, size_t width);

void formatted_expect(const char *text, const char *part);
void formatted_expect_not(const char *text, const char *part);

#endif
