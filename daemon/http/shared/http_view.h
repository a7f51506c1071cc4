// SPDX-License-Identifier: GPL-2.0
/*
 * A view: a question of the page about a time, a cgroup or an alert, with checked parameters. It travels as the
 * text of HTTP_ASK_VIEW. Pure functions.
 */
#ifndef PEBSD_HTTP_VIEW_H
#define PEBSD_HTTP_VIEW_H

#include <stdbool.h>

#include "pebsd/types.h"

enum http_view_kind {
	HTTP_VIEW_TIMELINE, /* /timeline.json: bins of the host or of a cgroup */
	HTTP_VIEW_RANGE,    /* /range.json: the table of a range, or the cgroups in it that a search finds */
	HTTP_VIEW_ALERTS,   /* /alerts.json with a range */
	HTTP_VIEW_EXPLAIN,  /* /explain.json */
	HTTP_VIEW_ZOOM,     /* /zoom.json without `seconds`: the newest zoom of a cgroup */
	HTTP_VIEW_TOP,      /* /top.json with a search */
	HTTP_VIEWS,
};

/* Most bins of a timeline: more than a chart has columns of 3 pixels. */
#define HTTP_VIEW_BINS_MAX     360
#define HTTP_VIEW_BINS_DEFAULT 120

/* Longest cgroup in its shown form (base/utf8.h), and longest name of a rule, with the NUL. */
#define HTTP_VIEW_CGROUP_MAX 4096
#define HTTP_VIEW_RULE_MAX   256

/* Longest text of a search, with the NUL. */
#define HTTP_VIEW_MATCH_MAX 256

/* The largest time: the end of the year 9999, in seconds. */
#define HTTP_VIEW_TIME_MAX 253402300799ULL

struct http_view {
	enum http_view_kind kind;
	/* CLOCK_REALTIME in seconds. Views of a range: since < until; others, and an explanation of the present: 0. */
	u64 since, until;
	u32 bins;   /* of a timeline, 1 to HTTP_VIEW_BINS_MAX; others: 0 */
	u32 offset; /* the first bin of the answer */
	bool histograms;
	char rule[HTTP_VIEW_RULE_MAX]; /* "": none */
	/*
	 * Begins with '/' or names an origin's cgroup; "": none. Of HTTP_VIEW_TOP and HTTP_VIEW_RANGE: the text of the
	 * search, a part of a name, path or label, shorter than HTTP_VIEW_MATCH_MAX.
	 */
	char cgroup[HTTP_VIEW_CGROUP_MAX];
};

#define HTTP_VIEW_TEXT_MAX (HTTP_VIEW_CGROUP_MAX + HTTP_VIEW_RULE_MAX + 128)

/* Writes the parameters, without the kind, as a text. */
void http_view_write(const struct http_view *view, char ret[static HTTP_VIEW_TEXT_MAX]);

/* Reads such a text for a view of the given kind. Returns 0, or -EBADMSG if it is not valid. */
int http_view_read(enum http_view_kind kind, const char *text, struct http_view *ret);

/* Returns true if the members are in range, and the view has all that its kind needs and nothing else. */
bool http_view_is_valid(const struct http_view *view);

#endif
