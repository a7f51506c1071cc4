// SPDX-License-Identifier: GPL-2.0
/* A value over time, as a row of cells. Pure functions. */
#ifndef PEBSD_FORMAT_TREND_LINE_H
#define PEBSD_FORMAT_TREND_LINE_H

#include <json-c/json.h>

#include "format/line.h"

#define TREND_LINE_MAX 240

struct trend_line {
	size_t n;                      /* at most TREND_LINE_MAX, oldest first */
	double values[TREND_LINE_MAX]; /* NAN: not known */
	bool latency;                  /* true: mean cycles; false: samples per second */
	bool past;                     /* of a range that is over */
	double bin_seconds;
};

/* Reads the trend of an event of a reply. Returns false if there is none. */
bool trend_line_read(const json_object *event, bool latency, struct trend_line *ret);

/*
 * Prints the last `cells` values, with blanks before them if there are fewer. The scale reaches from the lowest to
 * the highest value, and at least from a quarter below the mean to a quarter above it, so that noise does not look
 * like a trend. Values that are not known are blank.
 */
void trend_line_put(FILE *out, const struct trend_line *line, size_t cells, bool utf8);

/* The least and the greatest known value; returns false if none is known. */
bool trend_line_bounds(const struct trend_line *line, double *ret_low, double *ret_high);

#endif
