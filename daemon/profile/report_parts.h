// SPDX-License-Identifier: GPL-2.0
/* The parts of a report; each leaves its own members in `ret`, or -ENOMEM and nothing to free but by
 * profile_report_done(). */
#ifndef PEBSD_REPORT_PARTS_H
#define PEBSD_REPORT_PARTS_H

#include <string.h>

#include "profile/profile_parts.h"
#include "profile/profile_report.h"

int report_functions(const struct profile *profile, size_t limit, struct profile_report *ret);
int report_objects(const struct profile *profile, size_t limit, struct profile_report *ret);
int report_lines(const struct profile *profile, const struct report_settings *settings,
		 struct profile_report *ret);
int report_nodes(const struct profile *profile, const struct report_settings *settings,
		 struct profile_report *ret);

/*
 * What place `i`, of an access, is called. With `offset`, of the variable or the mapping where that tells
 * something, "+0xOFFSET" in it. NULL: no memory.
 */
char *object_name(const struct profile *profile, u32 i, const u64 *offset);

/* The region of a place; SYMBOL_UNKNOWN where it is not known (yet). */
enum symbol_region object_region(const struct profile *profile, u32 place);

/* -1, 0, 1: `a` comes before, with, behind `b`. */
static inline int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/* NULL comes first. */
static inline int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

#endif
