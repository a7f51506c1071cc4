// SPDX-License-Identifier: GPL-2.0
/* The lines that replies about the past have in addition. Pure. */
#ifndef PEBSD_FORMAT_PAST_H
#define PEBSD_FORMAT_PAST_H

#include "format/line.h"

/* Returns true if the reply is about the past. */
bool format_is_past(const json_object *reply);

/* Returns true if nothing is stored for the end of the time: its last gap reaches until there. */
bool format_ends_in_gap(const json_object *reply);

/*
 * Writes a range of time in the style's zone: "Fri 2026-11-27 03:11:50 - 03:12:00 CET", with both dates if they differ.
 * The texts are RFC 3339 times; of other texts the result is "an unknown time".
 */
#define PAST_RANGE_MAX 160
void format_range(const char *since, const char *until, const struct format_style *style,
		  char ret[static PAST_RANGE_MAX]);

/* Prints the gaps of a reply about the past. */
void format_gaps(FILE *out, const struct format_style *style, json_object *reply);

/* Prints the time, the gaps and the notes of a reply about the past; nothing for another reply. */
void format_past(FILE *out, const struct format_style *style, json_object *reply);

#endif
