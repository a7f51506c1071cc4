// SPDX-License-Identifier: GPL-2.0
/* The pages of the live top, as text for ctl/top/screen.h. Pure functions. */
#ifndef PEBSD_CTL_TOP_DRAW_H
#define PEBSD_CTL_TOP_DRAW_H

#include <stdio.h>

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

struct top_layout top_layout_of(const struct top_table *table, size_t width);

/* The maximum number of cells of a trend at this width, which is the number of bins to request. */
size_t top_trend_cells(size_t width);

/* Rows of the table, or lines of a page, that fit on a screen of `rows` rows. */
size_t top_room(enum top_page page, size_t rows);

/* `clock`: "20:15:03 UTC"; `trouble`: why the table is old, or NULL if it is not. */
void top_draw_table(FILE *out, const struct top_state *state, const struct top_table *table,
		    const char *clock, const char *trouble, size_t rows, const struct format_style *style);

/* Draws the visible part of `text` with `title` above it. Returns the number of lines of the whole text. */
size_t top_draw_page(FILE *out, const struct top_state *state, const char *title, const char *text,
		     const char *trouble, size_t rows, const struct format_style *style);

/* The text of the help page. */
const char *top_help(void);

#endif
