// SPDX-License-Identifier: GPL-2.0
/* What the live top knows of the daemon, and the requests that update it. */
#ifndef PEBSD_CTL_TOP_FETCH_H
#define PEBSD_CTL_TOP_FETCH_H

#include <time.h>

#include "base/moment.h"
#include "ctl/call/ctl_options.h"
#include "ctl/top/screen.h"
#include "ctl/top/top_draw.h"
#include "ctl/top/top_state.h"
#include "varlink/client.h"

#define TROUBLE_MAX 256

struct live {
	const struct ctl_options *options;
	struct screen *screen;
	struct client *client; /* NULL: not connected */
	struct top_state state;
	time_t shown_at;        /* `at` of the state when the daemon last had figures of it */
	json_object *status;    /* the last reply of GetStatus; NULL: none */
	struct top_table table; /* from the last reply */
	struct top_alerts alerts;
	struct top_pane pane;              /* of the cgroup in it; `cgroup` NULL: none */
	char table_clock[MOMENT_TEXT_MAX]; /* the time of `table`, which stays while the table is frozen */
	char clock[MOMENT_TEXT_MAX];       /* the time of the other pages */
	char *page;                        /* text of the page that is open; NULL: not fetched yet */
	size_t page_lines;
	/* Parts of the page that are rarely fetched; NULL: not fetched yet. */
	char *suspects, *neighbours;
	time_t neighbours_at;
	u64 zoom;                  /* number of the zoom of the page; 0: none runs */
	char *zoom_refused;        /* text: why no zoom is possible; NULL: one is */
	json_object *zoom_report;  /* the reply that no longer changes; NULL: none yet */
	bool unfinished;           /* a key cancelled the last fetch, or put it off; or the daemon was busy */
	char trouble[TROUBLE_MAX]; /* the reason why the display is old; "": it is not */
	char refused[MOMENT_TEXT_MAX + TROUBLE_MAX + 16]; /* why the last time could not be shown */
	time_t gone; /* time since which no daemon answers; 0: a daemon answers */
};

/* The style and the number of rows of the screen. */
struct format_style live_style(const struct live *live);
size_t live_rows(const struct live *live);

struct top_frame live_frame(const struct live *live, enum top_page page);
struct top_shown live_shown(const struct live *live);

/* Lets keys and signals interrupt the wait for a reply of `client`. */
void live_set_client(struct live *live, struct client *client);

/*
 * Fetches the data of the current page again. Failures are shown on the screen. If the daemon has no figures of the
 * time that the state has, the time that was shown before is shown again.
 */
void live_fetch(struct live *live);

/* Returns true if the screen has a pane, but `pane` is not of the marked row. live_fetch_pane() fetches that one. */
bool live_pane_is_old(const struct live *live);
void live_fetch_pane(struct live *live);

/* Returns the pane of the marked row or of the page; NULL: it is not known, or no row is marked. */
const struct top_pane *live_shown_pane(const struct live *live);

/* Forgets the text of the page. */
void live_forget_page(struct live *live);

/* Begins and ends a zoom into the cgroup of the page. */
void live_begin_zoom(struct live *live);
void live_end_zoom(struct live *live);

void live_done(struct live *live);

#endif
