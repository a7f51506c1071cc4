// SPDX-License-Identifier: GPL-2.0
/* The pane of the marked row beside or below the table: its figures, histogram and timeline. Pure functions. */
#ifndef PEBSD_CTL_TOP_PANE_H
#define PEBSD_CTL_TOP_PANE_H

#include <json-c/json.h>
#include <stdio.h>

#include "ctl/top/top_alerts.h"
#include "format/figure.h"
#include "format/format.h"
#include "format/trend_line.h"
#include "pebsd/histogram.h"

struct top_pane {
	char *cgroup;      /* from the daemon */
	char *visible;     /* its name, safe to print */
	char *path;        /* its path, safe to print */
	char figures[256]; /* a line of text */
	bool has_histogram;
	u64 fine[FINE_BUCKETS][FIGURE_GROUPS]; /* samples by latency and source */
	bool octaves;                          /* `fine` has whole octaves: a source has no finer histogram */
	bool has_trend;                        /* `trend` is set */
	bool latency;                          /* the event measures latencies */
	bool past;                             /* the timeline ends at the time that is shown */
	struct trend_line trend;
};

/*
 * Reads the event `key` (NULL: none) of a reply of GetCgroup. `status` describes the event. Returns 0 or -ENOMEM; free
 * with top_pane_done().
 */
int top_pane_read(json_object *status, json_object *cgroup, const char *key, struct top_pane *ret);

/*
 * Sets the timeline from a reply of GetHistory, which covers this cgroup and the `seconds` before `until`, in `bins`
 * bins (at most TREND_LINE_MAX).
 */
void top_pane_read_history(struct top_pane *pane, json_object *history, const char *key, size_t bins,
			   double seconds, time_t until);
void top_pane_done(struct top_pane *pane);

/*
 * Draws `lines` lines of at most `width` columns. `alert` (NULL: none) is that of the cgroup.
 */
void top_pane_draw(FILE *out, const struct top_pane *pane, const struct top_alert *alert, size_t width,
		   size_t lines, bool full_names, const struct format_style *style);

/* Draws the name of the cgroup, its alert and its figures: the head of its page, of three lines. */
#define TOP_PANE_HEAD 3
void top_pane_draw_head(FILE *out, const struct top_pane *pane, const struct top_alert *alert,
			bool full_names, const struct format_style *style);

/* The background of a group of sources: "\033[42m". */
extern const char *const top_group_colours[FIGURE_GROUPS];

/*
 * Draws `lines` rows: a line of `left` padded to `width` columns, then `between`, then a line of `right`. Both texts
 * may contain "\033[Nm".
 */
void top_beside(FILE *out, const char *left, size_t width, const char *between, const char *right,
		size_t lines);

#endif
