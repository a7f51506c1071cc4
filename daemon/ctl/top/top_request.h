// SPDX-License-Identifier: GPL-2.0
/* The parameters of GetTop. */
#ifndef PEBSD_CTL_TOP_REQUEST_H
#define PEBSD_CTL_TOP_REQUEST_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "ctl/call/ctl_options.h"

struct top_request {
	double window_seconds; /* 0: the whole time */
	const char *sort;      /* NULL: the daemon's default */
	bool has_limit;
	u64 limit, offset;
	const char *filter; /* NULL or "": none */
	bool sums;
	u64 depth;
	const char *event; /* NULL: all events */
	size_t trend;      /* bins; 0: none */
	double trend_seconds;
};

/* Returns the parameters; NULL: no memory. */
json_object *top_request_parameters(const struct top_request *request);

/* Returns {"window_s": seconds}, or {} if `seconds` is 0; NULL: no memory. */
json_object *top_window_parameters(double seconds);

/* Adds "trend" and "trend_s". Returns false if memory runs out. */
bool top_add_trend(json_object *parameters, size_t bins, double seconds);

/*
 * Return the window that the options give, in seconds, or else the default of text output or of JSON output.
 * 0: the whole time.
 */
double top_text_window(const struct ctl_options *options, const json_object *status);
double top_json_window(const struct ctl_options *options);

#endif
