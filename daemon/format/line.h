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

/* "0.25", "12.3", "2,950". */
void line_rate(double rate, char ret[TEXT_NUMBER_MAX]);

/*
 * Returns a text from outside in a form that is safe to print, "-" for NULL, or "?" if memory runs out. The caller
 * frees `*ret`.
 */
const char *line_visible(const char *text, char **ret);

/* Returns "2026-11-21 06:00:00 UTC" for an RFC 3339 time, and "an unknown time" for any other text. */
const char *line_time(const char *time, char ret[TEXT_TIME_MAX + 8]);

#endif
