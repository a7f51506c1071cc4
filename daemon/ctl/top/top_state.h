// SPDX-License-Identifier: GPL-2.0
/* Where the live top is, and what a key makes of that. Pure. */
#ifndef PEBSD_CTL_TOP_STATE_H
#define PEBSD_CTL_TOP_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

#define TOP_FILTER_MAX 248 /* bytes, and a NUL: what the daemon takes */
#define TOP_DEPTH_MAX  99

enum top_page {
	TOP_TABLE,
	TOP_CGROUP, /* one of them */
	TOP_HELP,
};

struct top_state {
	enum top_page page;
	const char *own_sort; /* as given by --sort, where it is none of the usual orders */
	size_t sort;
	double own_window; /* seconds, as given by --window; 0: all; below 0: not given */
	size_t window;
	size_t span; /* of the trend */
	size_t event;
	bool sums;
	u64 depth;
	char filter[TOP_FILTER_MAX];
	bool typing;
	char typed[TOP_FILTER_MAX];
	bool frozen;
	char *selected;      /* name of the marked row; NULL: whichever is there */
	size_t row;          /* which it is */
	size_t first;        /* row that is drawn first */
	size_t scroll;       /* lines of the page that are above the screen */
	bool selected_sum;   /* it is a sum of a subtree */
	const char *message; /* on what the last key could not do; NULL: it could */
};

/* What is on the screen. */
struct top_shown {
	size_t rows; /* of the table, known or not; or lines of the page */
	size_t room; /* so many fit at once */
	size_t n_events;
	size_t first, n; /* rows that are known */
	/* Of such a row, counted from the first of all; `ret_sum`: it is a subtree's. */
	const char *(*name)(const void *table, size_t row, bool *ret_sum);
	const void *table;
};

enum top_action {
	TOP_NOTHING,
	TOP_DRAW,
	TOP_FETCH, /* something else is to be shown */
	TOP_QUIT,
};

/* Takes a key (ctl/top/screen.h). `shown` describes the page that the state is on. */
enum top_action top_state_key(struct top_state *state, u32 key, const struct top_shown *shown);

/* Finds the marked row again in a table that is new, and keeps it on the screen. */
void top_state_settle(struct top_state *state, const struct top_shown *shown);

/* Orders as --sort has them. One that is none of the usual is one more; it must outlive the state. */
const char *top_state_sort(const struct top_state *state);
void top_state_set_sort(struct top_state *state, const char *sort);

/* In seconds; 0: all the time. A replay begins with all. */
double top_state_window(const struct top_state *state, bool replay);

/* What the trend covers, seconds. */
double top_state_span(const struct top_state *state);

void top_state_done(struct top_state *state);

#endif
