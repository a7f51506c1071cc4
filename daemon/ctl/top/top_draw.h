// SPDX-License-Identifier: GPL-2.0
/* The pages of the live top as text that ctl/top/screen.h draws. Pure. */
#ifndef PEBSD_CTL_TOP_DRAW_H
#define PEBSD_CTL_TOP_DRAW_H

#include <stdio.h>

#include "ctl/top/top_state.h"
#include "ctl/top/top_table.h"
#include "format/format.h"

/* Which columns a table has at a width, and how wide those are that vary. */
struct top_layout {
	bool samples, share, mean, p50, p99, hitm;
	size_t name;  /* columns */
	size_t bar;   /* cells; 0: none */
	size_t trend; /* cells; 0: none */
};

struct top_layout top_layout_of(const struct top_table *table, size_t width);

/* Cells of a trend at a width: so many bins are worth asking for. */
size_t top_trend_cells(size_t width);

/* Rows of the table, or lines of a page, that fit on a screen of so many rows. */
size_t top_room(enum top_page page, size_t rows);

/* `clock`: "20:15:03"; `trouble`: why the figures are old, NULL where they are not. */
void top_draw_table(FILE *out, const struct top_state *state, const struct top_table *table,
		    const char *clock, const char *trouble, size_t rows, const struct format_style *style);

/* A page of `text`, scrolled: `title` over it. Returns the lines that there are. */
size_t top_draw_page(FILE *out, const struct top_state *state, const char *title, const char *text,
		     const char *trouble, size_t rows, const struct format_style *style);

/* All keys. */
const char *top_help(void);

#endif
