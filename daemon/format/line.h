// SPDX-License-Identifier: GPL-2.0
/* Lines of text that fit a terminal, and pieces of text that several formats need. Pure functions. */
#ifndef PEBSD_FORMAT_LINE_H
#define PEBSD_FORMAT_LINE_H

#include "base/text.h"
#include "format/format.h"

/* Columns of the labels before the lines of status and show. */
#define LINE_LABEL 11

/*
 * Prints "   label: text". Text that does not fit is broken between words and continues below its start. An
 * empty label leaves the label's columns blank. NULL: begin at the left edge.
 */
void line_put(FILE *out, const struct format_style *style, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Prints the head of a table, in bold if the style has it. */
void line_head(FILE *out, const struct format_style *style, const char *text);

/* What a colour means, as in systemctl(1). */
enum line_mood { LINE_PLAIN, LINE_GOOD, LINE_WARNING, LINE_BAD };

/* Returns the sequence that begins the colour of a mood, or ends it. "": the style has no colours, or LINE_PLAIN. */
const char *line_colour(const struct format_style *style, enum line_mood mood);
const char *line_colour_end(const struct format_style *style, enum line_mood mood);

/* "12.3%"; "<0.1%" for a smaller share above 0; "-" if `whole` is 0. */
void line_percent(double part, double whole, char ret[TEXT_NUMBER_MAX]);

/* Numbers from this one on are printed with three significant digits: nobody reads 16 digits. */
#define LINE_DIGITS_END 1e15

/* "0.25", "12.3", "2,950", "1.2e+21"; "-" if it is not a finite number. */
void line_rate(double rate, char ret[TEXT_NUMBER_MAX]);

/* "5.23 GB/s", for bytes a second. */
void line_byte_rate(double rate, char ret[TEXT_NUMBER_MAX]);

/*
 * Returns a text from outside in a form that is safe to print, "-" for NULL, or "?" if memory runs out. The caller
 * frees `*ret`.
 */
const char *line_visible(const char *text, char **ret);

/*
 * Returns the texts of a list in a form that is safe to print, with `separator` between them; "-" for an empty list or
 * NULL. The caller frees the result; NULL: no memory.
 */
char *line_list(json_object *list, const char *separator);

/*
 * Returns the name of the cgroup that `object` is about, or its path if it has no name or the style wants paths. The
 * caller frees `*ret`, as with line_visible().
 */
const char *line_cgroup(const struct format_style *style, const json_object *object, char **ret);

/* Returns the same text as line_cgroup(), as it is in `object`; NULL: none. */
const char *line_cgroup_text(const struct format_style *style, const json_object *object);

/* Prints the line "Cgroup" with the name and the path, and with `rest` after them. */
void line_put_cgroup(FILE *out, const struct format_style *style, const json_object *object,
		     const char *rest);

/*
 * Returns a time in the style's zone, as moment_show() writes it, for an RFC 3339 time, and "an unknown time" for any
 * other text. With `now` other than 0 the age follows, as systemctl(1) writes it: "...; 5min ago". A time in the future
 * has no age.
 */
#define LINE_TIME_MAX 96
const char *line_time(const struct format_style *style, const char *time, char ret[LINE_TIME_MAX]);
const char *line_since(const struct format_style *style, const char *time, time_t now,
		       char ret[LINE_TIME_MAX]);

/*
 * Same as line_visible(), for a sentence of the daemon: the times in it ("2026-11-21T06:00:00Z") are written as
 * line_time() does.
 */
const char *line_sentence(const struct format_style *style, const char *text, char **ret);

#endif
