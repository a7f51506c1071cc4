// SPDX-License-Identifier: GPL-2.0
/*
 * Names in a form that JSON and Prometheus can carry. The name of a cgroup or a command may contain any byte.
 * The shown form replaces each byte that is not part of valid UTF-8, and each byte of a noncharacter, by
 * U+FFFD and two hexadecimal digits. It does the same with the bytes of a U+FFFD in the name, so that two
 * different names never get the same shown form. Pure functions.
 */
#ifndef PEBSD_UTF8_H
#define PEBSD_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Builds the shown form of `name`. Returns 0 or -ENOMEM. The caller frees `*ret`. */
int utf8_show(const char *name, char **ret);

/* Returns the length of the shown form of `name` in bytes, without its NUL. */
size_t utf8_shown_length(const char *name);

/* Returns whether `shown` is the shown form of `text`. */
bool utf8_is_shown_as(const char *text, const char *shown);

/* Same for the first `length` bytes of `text`. They must not end inside a character. */
bool utf8_part_is_shown_as(const char *text, size_t length, const char *shown);

/*
 * Makes `text` safe for one line of output, in place. These bytes become '?': control characters, bytes that
 * are not UTF-8, the bytes of noncharacters, and the bytes of characters that end a line or change the
 * direction of the text (U+0080 to U+009F, U+2028 to U+202E, U+2066 to U+2069).
 */
void utf8_make_plain(char *text);

/* Returns whether `text` is valid UTF-8 without noncharacters. It need not be a shown form. */
bool utf8_is_valid(const char *text);

/* Returns whether `text` is UTF-8 by RFC 3629. Noncharacters are allowed. */
bool utf8_is_encoded(const char *text);

#endif
