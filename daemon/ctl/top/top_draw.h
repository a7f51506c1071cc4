// SPDX-License-Identifier: GPL-2.0
/* The pages of the live top, as text for ctl/top/screen.h. Pure functions. */
#ifndef PEBSD_CTL_TOP_DRAW_H
#define PEBSD_CTL_TOP_DRAW_H

#include <stdio.h>

#include "ctl/top/top_pane.h"
#include "ctl/top/top_state.h"
#include "ctl/top/top_table.h"
#include "format/format.h"

/* The columns of a table at a given width, and the sizes of those that vary. */
struct top_layout {
	bool samples, share, mean, p50, p99, hitm;
	bool waits[SHOWN_WAITS];
	size_t name;  /* columns */
	size_t bar;   /* cells; 0: none */
	size_t trend; /* cells; 0: none */
};

struct top_layout top_layout_of(const struct top_table *table, size_t width, bool full_names);

/* Where the parts of a screen of this size are. */
struct top_frame {
	size_t width;                  /* columns of the table */
	size_t room;                   /* rows of the table, alerts, or lines of the page, that fit */
	size_t first;                  /* line of the screen, from 0, of the first of these */
	bool beside;                   /* the pane of the marked row is beside the table, not below it */
	size_t pane_width, pane_lines; /* 0: the screen is too small for a pane */
};

/* `matching`: the rows of the whole table. If they leave much of a low screen free, it has a pane, too. */
struct top_frame top_frame_of(enum top_page page, size_t columns, size_t rows, u64 matching);

/* The maximum number of cells of a trend at this width, which is the number of bins to request. */
size_t top_trend_cells(size_t width);

/* The data that the pages show, besides the state. */
struct top_data {
	const struct top_table *table;
	const struct top_alerts *alerts;
	const struct top_pane
		*pane;       /* of the marked row, or of the cgroup of the page; NULL: not known yet */
	const char *clock;   /* "20:15:03 CET", of the past "Sat 2026-11-21 20:15:03 CET" */
	const char *trouble; /* the reason why the display is old; NULL: it is not */
	size_t rows;         /* of the screen */
};

void top_draw_table(FILE *out, const struct top_state *state, const struct top_data *data,
		    const struct format_style *style);

/* Returns the order that a click on this column of the heads chooses; NULL: none. */
const char *top_draw_sort_at(const struct top_layout *layout, size_t column);

void top_draw_alerts(FILE *out, const struct top_state *state, const struct top_data *data,
		     const struct format_style *style);

/* Draws the visible part of `text` below a title and the fixed head of the page. */
void top_draw_page(FILE *out, const struct top_state *state, const struct top_data *data, const char *text,
		   const struct format_style *style);

/* The text of the help page. */
const char *top_help(void);

/* Returns the number of lines of a page's text. */
size_t top_lines(const char *text);

#endif
