// SPDX-License-Identifier: GPL-2.0
/* The parsed command line of pebsctl, and the bounds of its values. */
#ifndef PEBSD_CTL_OPTIONS_H
#define PEBSD_CTL_OPTIONS_H

#include <stdbool.h>
#include <time.h>

#include "format/style.h"
#include "pebsd/types.h"

enum window_kind {
	WINDOW_DEFAULT, /* text: 10 s, in a replay everything; JSON: everything */
	WINDOW_ALL,
	WINDOW_SECONDS,
};

struct ctl_options {
	const char *socket;
	const char *
		nearest; /* the sampled cgroup whose name is most similar to the first unknown one; NULL: none */
	const char *sort;   /* NULL: the daemon's default */
	const char *output; /* NULL: not given */
	const char *filter; /* NULL: none */
	u64 depth;
	u64 limit;
	u64 rate; /* samples per second */
	double window_seconds;
	const char *for_text; /* of --for */
	double for_seconds;
	enum window_kind window;
	enum style_colour colour;
	time_t now; /* at the start of the program */
	time_t since, until, at, with;
	bool has_since, has_until, has_at, has_with;
	bool json;
	bool full; /* paths of cgroups instead of names */
	bool utc;
	bool has_limit, has_rate, has_for, has_depth;
	bool no_wait, last, stop;
	bool folded, latency, perf_data;
};

/* Not more than the daemon's maxima (detail/zooms.h, snapshot/snapshot_view.h, control_detail.c). */
#define OPTIONS_DEPTH_MAX      99
#define OPTIONS_FILTER_MAX     247
#define OPTIONS_RATE_MAX       20000
#define OPTIONS_ZOOM_LIMIT_MAX 10000

#endif
