// SPDX-License-Identifier: GPL-2.0
/* Makes the views of the page (shared/http_view.h): figures and alerts of the past, explanations and zooms. */
#ifndef PEBSD_HTTP_VIEW_MAKE_H
#define PEBSD_HTTP_VIEW_MAKE_H

#include "detail/zooms.h"
#include "export/json/json_public.h"
#include "history/history.h"
#include "http/shared/http_view.h"

/* The sources of views. Nothing is owned. */
struct http_view_sources {
	const char *origin;
	struct history *history; /* NULL: none is kept */
	const char *history_off; /* why none is kept; names [history] if a key of it is the reason */
	const struct policy *policy;
	struct json_public_names names;
	/* Gets the snapshot of /top.json, which is valid until the next call. Returns 0 or -errno. */
	int (*snapshot)(void *userdata, const struct snapshot **ret);
	void *userdata;
	struct json_suspects suspects; /* for explanations */
	struct zooms *zooms;           /* NULL: zooms are not served */
	bool modelled;                 /* the zooms are of modelled programs */
};

/* Returns as http_source.view. */
int http_view_make(const struct http_view_sources *sources, const struct http_view *view, char **ret_text,
		   size_t *ret_length, char **ret_message);

#endif
