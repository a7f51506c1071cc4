// SPDX-License-Identifier: GPL-2.0
/*
 * Code and data of a reply in tables: shares, bounds, names, and the source lines and modules of functions.
 * Pure functions.
 */
#ifndef PEBSD_FORMAT_LOCATION_H
#define PEBSD_FORMAT_LOCATION_H

#include "format/line.h"

/* Prints a share in six columns; "-" if it is not known. */
void location_put_share(FILE *out, bool known, double part, double whole);

/* Prints a count in `width` columns; "-" if it is absent. */
void location_put_count(FILE *out, int width, const json_object *object, const char *key);

/* "30.8 - 31.2%" and "1200 - 1234": the low and high bound; only one value if both look the same. */
#define LOCATION_BOUNDS_MAX 80
void location_share_bounds(const json_object *bounds, char ret[LOCATION_BOUNDS_MAX]);
void location_count_bounds(const json_object *bounds, char ret[LOCATION_BOUNDS_MAX]);

/* Prints a bar of twelve letters for samples by source; "-" if there are none. */
#define LOCATION_BAR 12
void location_put_sources(FILE *out, json_object *sources);

/*
 * Prints a function in the last `width` columns of a line (0: unlimited), and ends the line: its name, then
 * its source line, module and address as far as they fit. `name` is the key of the name. If `place` is true,
 * the offset in the function is printed, too.
 */
void location_put_function(FILE *out, const struct format_style *style, const json_object *function,
			   const char *name, bool place, size_t width);

/* Prints the start of a text in at most `width` columns (0: all of it): the start of a name tells most. */
void location_put_start(FILE *out, const char *text, size_t width);

/* Prints an empty line and the head of a table. */
void location_put_head(FILE *out, const struct format_style *style, const char *head);

/* Returns the columns that are left on the terminal after `used`, at least `least`; 0: unlimited. */
size_t location_rest(const struct format_style *style, size_t used, size_t least);

#endif
