// SPDX-License-Identifier: GPL-2.0
/* Lines of text that fit a terminal, and small pieces that several of them need. Pure. */
#ifndef PEBSD_FORMAT_LINE_H
#define PEBSD_FORMAT_LINE_H

#include "base/text.h"
#include "format/format.h"

/* Columns of the labels that stand before the lines of status and show. */
#define LINE_LABEL 11

/*
 * "   label: text", with the text broken between words where it does not fit, and the rest under its start.
 * An empty label leaves its place free; NULL begins at the left edge.
 */
void line_put(FILE *out, const struct format_style *style, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A head: bold where that is wanted. */
void line_head(FILE *out, const struct format_style *style, const char *text);

/* "12.3%", "<0.1%" for what is above 0; "-" where `whole` is 0. */
void line_percent(double part, double whole, char ret[TEXT_NUMBER_MAX]);

/* "0.25", "12.3", "2,950". */
void line_rate(double rate, char ret[TEXT_NUMBER_MAX]);

/* A text from outside as it can be shown, or "?" where memory is short; `ret` keeps it for the caller to
 * free. */
const char *line_visible(const char *text, char **ret);

/* "2026-11-21 06:00:00 UTC" of an RFC 3339 time; what is none as it is. */
const char *line_time(const char *time, char ret[TEXT_TIME_MAX + 8]);

#endif
