// SPDX-License-Identifier: GPL-2.0
/* Code and data of a reply as they stand in tables: shares, bounds, names and where they are from. Pure. */
#ifndef PEBSD_FORMAT_LOCATION_H
#define PEBSD_FORMAT_LOCATION_H

#include "format/line.h"

/* A share in six columns, "-" where `known` is not. */
void location_put_share(FILE *out, bool known, double part, double whole);

/* A count in `width` columns, "-" where it is absent. */
void location_put_count(FILE *out, int width, const json_object *object, const char *key);

/* "30.8 - 31.2%" and "1,200 - 1,234": low and high of bounds; one of them where they look alike. */
#define LOCATION_BOUNDS_MAX 80
void location_share_bounds(const json_object *bounds, char ret[LOCATION_BOUNDS_MAX]);
void location_count_bounds(const json_object *bounds, char ret[LOCATION_BOUNDS_MAX]);

/* Twelve letters for samples by source, "-" where there is none. */
#define LOCATION_BAR 12
void location_put_sources(FILE *out, json_object *sources);

/*
 * A function in the last `width` columns of a line (0: as many as it takes), and the line's end: its name,
 * then its source, its module and its address, as far as they fit. `name` is the key of its name;
 * `place`: its "offset" is one in the function, and is told.
 */
void location_put_function(FILE *out, const struct format_style *style, const json_object *function,
			   const char *name, bool place, size_t width);

/* A text in at most `width` columns (0: all of it), its start kept: a name begins with what it is. */
void location_put_start(FILE *out, const char *text, size_t width);

/* The head of a table, after an empty line. */
void location_put_head(FILE *out, const struct format_style *style, const char *head);

/* Columns that are left of the terminal's right of `used`; 0: no limit. At least `least`. */
size_t place_rest(const struct format_style *style, size_t used, size_t least);

#endif
