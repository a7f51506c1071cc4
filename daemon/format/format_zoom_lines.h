// SPDX-License-Identifier: GPL-2.0
/* Cache lines of a zoom that CPUs fight over, as perf c2c shows them. Pure. */
#ifndef PEBSD_FORMAT_ZOOM_LINES_H
#define PEBSD_FORMAT_ZOOM_LINES_H

#include "format/figure.h"
#include "format/line.h"

/* What shares are of. */
struct zoom_weight {
	bool latency;
	const char *key; /* of an item: "latency" or "samples" */
	double all;
};

void format_zoom_lines(FILE *out, const struct format_style *style, json_object *lines,
		       const struct zoom_weight *weight);

#endif
