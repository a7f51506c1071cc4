// SPDX-License-Identifier: GPL-2.0
/* Cache lines of a zoom for which CPUs contend, as perf c2c shows them. Pure functions. */
#ifndef PEBSD_FORMAT_ZOOM_LINES_H
#define PEBSD_FORMAT_ZOOM_LINES_H

#include "format/figure.h"
#include "format/line.h"

/* The quantity of which shares are printed. */
struct zoom_weight {
	bool latency;
	const char *key; /* key of an item: "latency" or "samples" */
	double all;
};

void format_zoom_lines(FILE *out, const struct format_style *style, json_object *lines,
		       const struct zoom_weight *weight);

#endif
