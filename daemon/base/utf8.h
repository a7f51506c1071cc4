// SPDX-License-Identifier: GPL-2.0
/*
 * Names as JSON and Prometheus can carry them. A cgroup's name or a command's may hold any byte; in its shown
 * form a byte that is no UTF-8 stands as U+FFFD and its two hexadecimal digits, and so do the bytes of a
 * U+FFFD that was there before: two different names never become one. Pure.
 */
#ifndef PEBSD_UTF8_H
#define PEBSD_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The shown form of `name`. Returns 0 or -ENOMEM; the caller frees *ret. */
int utf8_show(const char *name, char **ret);

/* Bytes of the shown form of `name`, without its NUL. */
size_t utf8_shown_length(const char *name);

/* Whether `shown` is the shown form of `name`. */
bool utf8_is_shown_as(const char *name, const char *shown);

/*
 * What may stand in one line for people, in place: each byte that is no UTF-8 or a control character is '?',
 * and so are those of characters that end a line or turn the direction of what follows (U+0080 to U+009F,
 * U+2028 to U+202E, U+2066 to U+2069).
 */
void utf8_make_plain(char *text);

/* Whether `text` is UTF-8 without noncharacters, in whatever form. */
bool utf8_is_valid(const char *text);

/* Whether `text` is UTF-8 as RFC 3629 has it, noncharacters included. */
bool utf8_is_encoded(const char *text);

#endif
