// SPDX-License-Identifier: GPL-2.0
/* The state of the live top, and how keys change it. Pure functions. */
#ifndef PEBSD_CTL_TOP_STATE_H
#define PEBSD_CTL_TOP_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/moment.h"
#include "ctl/call/call_when.h"
#include "ctl/call/ctl_options.h"
#include "ctl/top/top_alerts.h"
#include "pebsd/types.h"

#define TOP_FILTER_MAX 248 /* bytes: OPTIONS_FILTER_MAX and a NUL */
#define TOP_DEPTH_MAX  OPTIONS_DEPTH_MAX

enum top_page {
	TOP_TABLE,
	TOP_CGROUP, /* one cgroup */
	TOP_HELP,
	TOP_ALERTS,  /* the list of alerts */
	TOP_EXPLAIN, /* the alert of a cgroup, and its neighbours */
	TOP_ZOOM,    /* the code and data of a cgroup */
	TOP_PAGES,
};

/* Members that belong together are adjacent. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct top_state {
	enum top_page page;
	const char *own_sort; /* given by --sort, but not one of the usual orders; NULL: none */
	size_t sort;
	double own_window; /* seconds, given by --window; 0: the whole time; negative: not given */
	size_t window;
	size_t span; /* index of the time that the trend covers; see top_state_span() */
	size_t event;
	bool sums;
	u64 depth;
	char filter[TOP_FILTER_MAX];
	bool typing;
	bool typing_time; /* a moment is typed, not a filter */
	bool jumped;      /* the last key went to the typed moment */
	time_t now;       /* set it before each key */
	time_t at;        /* end of the time that is shown; 0: the present */
	time_t tried;     /* time that the last step could not show: the next one starts there; 0: none */
	moment_zone zone; /* of typed times; NULL: UTC */
	char typed[TOP_FILTER_MAX];
	bool typed_before; /* `typed` is the text from before: the next character replaces it */
	bool frozen;
	char *selected;    /* name of the marked row; NULL: row number `row` is marked, whatever its name */
	size_t row;        /* position of the marked row */
	size_t first;      /* first row that is drawn */
	size_t scroll;     /* lines of the page above the screen */
	bool selected_sum; /* the marked row is the sum of a subtree */
	enum top_page from[TOP_PAGES];   /* page from which each was opened */
	char *target;                    /* cgroup of the pages for one; NULL: none was opened */
	bool target_sum;                 /* it is the sum of a subtree */
	char *rule;                      /* rule of the alert that TOP_EXPLAIN explains; NULL: none */
	size_t alert, first_alert;       /* marked alert, and the first one that is drawn */
	char *alert_rule, *alert_cgroup; /* of the marked alert, which keeps the mark when it moves */
	bool full_names;
	bool no_mouse;       /* the mouse is left to the terminal */
	bool clicked;        /* the mouse marked the row: another click opens it */
	bool confirming;     /* asks whether to zoom into `target` */
	bool zoom_runs;      /* set by the caller: Escape ends the zoom */
	const char *message; /* says why the last key had no effect; NULL: nothing to say */
};

/* The figures by which the rows of an event can be sorted, besides samples. */
struct top_figures {
	bool latency, sources;
	bool waits; /* the cost of waiting */
};

/* The contents of the screen. */
struct top_shown {
	size_t rows; /* rows of the whole table, fetched or not; alerts; or lines of the page */
	size_t room; /* number of rows that fit on the screen */
	size_t n_events;
	struct top_figures figures;
	size_t first, n; /* rows that have been fetched */
	/*
	 * Returns the name of a fetched row, counted from the start of the table. Sets *ret_sum to whether the
	 * row is the sum of a subtree.
	 */
	const char *(*name)(const void *table, size_t row, bool *ret_sum);
	const void *table;
	const struct top_alerts *alerts; /* NULL: none */
};

enum top_action {
	TOP_NOTHING,
	TOP_DRAW,
	TOP_FETCH,      /* other data is needed */
	TOP_ZOOM_BEGIN, /* zoom into `target` */
	TOP_ZOOM_END,
	TOP_MOUSE, /* `no_mouse` changed */
	TOP_QUIT,
};

/* Handles a key (ctl/top/screen.h). `shown` describes the page that is on the screen. */
enum top_action top_state_key(struct top_state *state, u32 key, const struct top_shown *shown);

/*
 * Handles the mouse: a click or the wheel. `line` is the row of the table, or the alert, on which the mouse is;
 * TOP_NO_LINE: none. `sort` is the order of the head of a column that it is on; NULL: none.
 */
#define TOP_NO_LINE ((size_t)-1)
enum top_action top_state_mouse(struct top_state *state, u32 key, size_t line, const char *sort,
				const struct top_shown *shown);

/* Finds the marked alert in a new list. */
void top_state_settle_alerts(struct top_state *state, const struct top_alerts *alerts, size_t room);

/* Finds the marked row in a new table, and scrolls so that it stays on the screen. */
void top_state_settle(struct top_state *state, const struct top_shown *shown);

/* Scrolls a page of `rows` lines so that no line below its end is on the screen, which has `room` lines for it. */
void top_state_settle_page(struct top_state *state, size_t rows, size_t room);

/*
 * The order, as in --sort: the chosen one, or "samples" if the event does not have its figure. An order that is not one
 * of the usual ones is added to them; its text must outlive the state.
 */
const char *top_state_sort(const struct top_state *state, const struct top_figures *figures);
void top_state_set_sort(struct top_state *state, const char *sort);

/* The window in seconds; 0: the whole time. A replay begins with the whole time, unless --window is given. */
double top_state_window(const struct top_state *state, bool replay);

/* The range that is shown. Call it only if `at` is set. The whole time has no range: then it is an hour. */
struct call_range top_state_range(const struct top_state *state, bool replay);

/*
 * Goes back to the time `at`, because no figures are known of `state->at`. A typed time can then be corrected, and the
 * next step goes on from there, over the gap. `why` is shown, and must outlive the state.
 */
void top_state_refuse_time(struct top_state *state, time_t at, const char *why);

/* Seconds that the trend covers. */
double top_state_span(const struct top_state *state);

void top_state_done(struct top_state *state);

#endif
