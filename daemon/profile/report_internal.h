// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of a report. Each report_*() function sets its own members of `ret`, and returns 0 or -ENOMEM. In
 * both cases the caller frees `ret` with profile_report_done().
 */
#ifndef PEBSD_REPORT_INTERNAL_H
#define PEBSD_REPORT_INTERNAL_H

#include <string.h>

#include "profile/profile_internal.h"
#include "profile/profile_report.h"

int report_functions(const struct profile *profile, size_t limit, struct profile_report *ret);
int report_objects(const struct profile *profile, size_t limit, struct profile_report *ret);
int report_lines(const struct profile *profile, const struct report_settings *settings,
		 struct profile_report *ret);
int report_nodes(const struct profile *profile, const struct report_settings *settings,
		 struct profile_report *ret);

/*
 * Returns the name of the data at the place of this index, or of unknown memory (NONE). If `offset` is not NULL, the
 * name includes "+0xOFFSET", the offset in the variable or mapping, except for the kernel and unknown memory. NULL: no
 * memory.
 */
char *object_name(const struct profile *profile, u32 index, const u64 *offset);

/* Returns the region of a place, or SYMBOL_UNKNOWN if it is not known (yet). */
enum symbol_region object_region(const struct profile *profile, u32 place);

/* Returns -1, 0 or 1 if `a` is less than, equal to or greater than `b`. */
static inline int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/* NULL sorts first. */
static inline int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

#endif
