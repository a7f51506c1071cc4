// SPDX-License-Identifier: GPL-2.0
/* The query string of a view (http_view.h): each parameter at most once, and no others. Pure functions. */
#ifndef PEBSD_HTTP_VIEW_REQUEST_H
#define PEBSD_HTTP_VIEW_REQUEST_H

#include "http/shared/http_view.h"

#define HTTP_VIEW_MISTAKE_MAX 200

struct http_view_request {
	struct http_view view;
	u64 seconds;                         /* of /zoom.json: the duration of a zoom to begin; 0: none */
	unsigned given;                      /* bits: parameters that have come */
	char mistake[HTTP_VIEW_MISTAKE_MAX]; /* the first one, as a sentence; "": none */
};

/* Returns true if `path` is that of a view, with its kind. */
bool http_view_of_path(const char *path, enum http_view_kind *ret);

/* Begins a request of this kind. */
void http_view_begin(struct http_view_request *request, enum http_view_kind kind);

/* Adds a decoded parameter. `value` NULL: it has no `=`. */
void http_view_parameter(struct http_view_request *request, const char *key, const char *value);

/*
 * Checks that the request is complete, and fills in the defaults: `until` is `now`, rounded up to 10 s so that requests
 * of the same moment are one question to the history. Returns false on a mistake.
 */
bool http_view_complete(struct http_view_request *request, u64 now);

#endif
