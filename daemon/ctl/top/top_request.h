// SPDX-License-Identifier: GPL-2.0
/* The parameters of GetTop, and its replies. */
#ifndef PEBSD_CTL_TOP_REQUEST_H
#define PEBSD_CTL_TOP_REQUEST_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "ctl/call/call_when.h"
#include "ctl/call/ctl_options.h"

struct top_request {
	double window_seconds; /* 0: the whole time */
	bool past;             /* not the last `window_seconds`, but `range` */
	struct call_range range;
	const char *sort; /* NULL: the daemon's default */
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

/*
 * Calls GetTop with these parameters, which it takes. Returns 0 with the parameters of the reply, which the caller
 * puts, or -errno.
 */
typedef int (*top_ask)(void *userdata, json_object *parameters, json_object **ret);

/*
 * Calls `ask` until all requested rows are there, because one reply may have only some of them. Returns 0 with one
 * reply that has the rows of all, which the caller puts. Returns fewer rows if a collection came between two replies:
 * rows of the later moment could be there already. Returns -ENOMEM, or the error of `ask`.
 */
int top_request_rows(const struct top_request *request, top_ask ask, void *userdata, json_object **ret);

/* Returns {"window_s": seconds}, or {} if `seconds` is 0; NULL: no memory. */
json_object *top_window_parameters(double seconds);

/* Adds "trend", and "trend_s" unless `seconds` is 0: all of the time. Returns false if memory runs out. */
bool top_add_trend(json_object *parameters, size_t bins, double seconds);

/*
 * Return the window that the options give, in seconds, or else the default of text output or of JSON output.
 * 0: the whole time.
 */
double top_text_window(const struct ctl_options *options, const json_object *status);
double top_json_window(const struct ctl_options *options);

#endif
