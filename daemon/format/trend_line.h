// SPDX-License-Identifier: GPL-2.0
/* How a figure went over time, in a row of cells. Pure. */
#ifndef PEBSD_FORMAT_TREND_LINE_H
#define PEBSD_FORMAT_TREND_LINE_H

#include <json-c/json.h>

#include "format/line.h"

#define TREND_LINE_MAX 240

struct trend_line {
	size_t n;                      /* at most TREND_LINE_MAX, oldest first */
	double values[TREND_LINE_MAX]; /* NAN: not known */
	bool latency;                  /* mean cycles; else samples a second */
	double bin_seconds;
};

/* Of an event of a reply; false: there is none. */
bool trend_line_read(const json_object *event, bool latency, struct trend_line *ret);

/*
 * The last `cells` of them, blanks before where there are fewer. The highest cell is the highest value, but
 * what stays within a quarter of their mean stays in the middle: noise is no trend. What is not known is
 * blank.
 */
void trend_line_put(FILE *out, const struct trend_line *line, size_t cells, bool utf8);

/* Of those that are known; false: none is. */
bool trend_line_bounds(const struct trend_line *line, double *ret_low, double *ret_high);

#endif
