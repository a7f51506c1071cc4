// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_live.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/moment.h"
#include "base/monotonic.h"
#include "ctl/call/call.h"
#include "ctl/call/call_failure.h"
#include "ctl/top/top_fetch.h"

#define REFRESH_MS       1000
#define SHORTEST_SECONDS 10 /* the shortest window of the past */
#define PANE_MS          30 /* after the last key, until the pane of the marked row is fetched */

DEFINE_CLEANUP(struct screen *, screen_close)

static const char *text_of_page(const struct live *live)
{
	if (live->state.page == TOP_HELP)
		return top_help();
	return live->page ? live->page : *live->trouble ? "" : "waiting for the daemon\n";
}

static void draw(struct live *live)
{
	const struct format_style style = live_style(live);
	const struct top_data data = {.table = &live->table,
				      .alerts = &live->alerts,
				      .pane = live_shown_pane(live),
				      .clock =
					      live->state.page == TOP_TABLE ? live->table_clock : live->clock,
				      .trouble = *live->trouble ? live->trouble : NULL,
				      .rows = live_rows(live)};
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	if (live->state.page == TOP_TABLE)
		top_draw_table(out, &live->state, &data, &style);
	else if (live->state.page == TOP_ALERTS)
		top_draw_alerts(out, &live->state, &data, &style);
	else
		top_draw_page(out, &live->state, &data, text_of_page(live), &style);
	if (fclose(out) == 0)
		screen_draw(live->screen, text);
}

static long long now_ms(void)
{
	return (long long)(monotonic_ns() / NSEC_PER_MSEC);
}

static enum top_action handle_mouse(struct live *live, const struct screen_input *input,
				    const struct top_shown *shown)
{
	const struct top_frame frame = live_frame(live, live->state.page);
	const struct top_layout layout = top_layout_of(&live->table, frame.width, live->state.full_names);
	bool alerts = live->state.page == TOP_ALERTS;
	size_t line = TOP_NO_LINE;
	const char *sort = NULL;

	if (input->row >= frame.first && input->row - frame.first < frame.room && input->column < frame.width)
		line = input->row - frame.first + (alerts ? live->state.first_alert : live->state.first);
	else if (input->row + 1 == frame.first && live->state.page == TOP_TABLE)
		sort = top_draw_sort_at(&layout, input->column);
	return top_state_mouse(&live->state, input->key, line, sort, shown);
}

static void set_mouse(struct live *live)
{
	bool on = screen_set_mouse(live->screen, !live->state.no_mouse);

	live->state.message =
		live->state.no_mouse ? "the mouse selects text in the terminal; m: use it here again"
		: on ? "a click marks a row, a second click opens it; m: leave the mouse to the terminal"
		     : "this terminal reports no mouse";
}

/*
 * Returns true if the next key is the same step through time. Then the figures of this step are not fetched, because
 * the daemon answers few questions about its history at a time.
 */
static bool steps_on(const struct live *live, u32 key)
{
	return key < 128 && key && strchr(",.<>", (int)key) && !live->state.typing &&
	       screen_next_key(live->screen) == key;
}

/* Scrolls the page to its mark or text: the size of the screen may have changed since the page was last shown. */
static void settle(struct live *live)
{
	struct top_shown shown = live_shown(live);

	if (live->state.page == TOP_TABLE)
		top_state_settle(&live->state, &shown);
	else if (live->state.page == TOP_ALERTS)
		top_state_settle_alerts(&live->state, &live->alerts, shown.room);
	else
		top_state_settle_page(&live->state, shown.rows, shown.room);
}

/* Returns false if the user quits. */
static bool handle_input(struct live *live, const struct screen_input *input)
{
	bool mouse = input->key == SCREEN_CLICK || input->key == SCREEN_WHEEL_UP ||
		     input->key == SCREEN_WHEEL_DOWN;
	struct top_shown shown = live_shown(live);
	enum top_page page = live->state.page;
	enum top_action action;
	time_t at = live->state.at;

	live->state.now = time(NULL);
	action = mouse ? handle_mouse(live, input, &shown) : top_state_key(&live->state, input->key, &shown);
	if (live->state.page != page || live->state.at != at)
		live_forget_page(live);
	if (live->state.page != page)
		settle(live);
	if (action == TOP_MOUSE)
		set_mouse(live);
	if (action == TOP_ZOOM_BEGIN)
		live_begin_zoom(live);
	if (action == TOP_ZOOM_END)
		live_end_zoom(live);
	/* A frozen table is not fetched again. */
	if ((action == TOP_FETCH || action == TOP_ZOOM_BEGIN || action == TOP_ZOOM_END) &&
	    !(live->state.frozen && live->state.page == TOP_TABLE)) {
		if (steps_on(live, input->key))
			live->unfinished = true;
		else
			live_fetch(live);
	}
	if (action != TOP_NOTHING)
		draw(live);
	return action != TOP_QUIT;
}

static void resized(struct live *live)
{
	settle(live);
	if (!live->state.frozen)
		live_fetch(live);
	draw(live);
}

/* Fetches the page again, each second, unless it cannot change: the help, the past, or a frozen screen. */
static void refresh(struct live *live)
{
	if (live->state.frozen || live->state.page == TOP_HELP ||
	    (live->state.at && !*live->trouble && !live->unfinished))
		return;
	live_fetch(live);
	draw(live);
}

static void run(struct live *live)
{
	long long next = now_ms() + REFRESH_MS;

	live_fetch(live);
	draw(live);
	for (;;) {
		bool old = live_pane_is_old(live) && !live->state.frozen;
		long long left = next - now_ms();
		struct screen_input input;

		left = left < 0 ? 0 : old && left > PANE_MS ? PANE_MS : left;
		switch (screen_wait(live->screen, -1, (int)left, &input)) {
		case SCREEN_END:
			return;
		case SCREEN_RESIZED:
			resized(live);
			break;
		case SCREEN_KEY:
			if (!handle_input(live, &input))
				return;
			break;
		case SCREEN_READY:
		case SCREEN_TIME:
			if (now_ms() < next) {
				live_fetch_pane(live);
				draw(live);
				break;
			}
			refresh(live);
			next = now_ms() + REFRESH_MS;
		}
	}
}

static void begin_state(const struct ctl_options *options, struct top_state *state)
{
	*state = (struct top_state){.own_window = -1,
				    .sums = options->has_depth,
				    .depth = options->depth,
				    .now = options->now,
				    .zone = options->utc ? moment_utc : localtime_r,
				    .full_names = options->full};
	if (call_is_past(options))
		state->at = call_stored_range(options, SHORTEST_SECONDS).until;
	if (options->has_since)
		state->own_window = (double)(state->at - options->since);
	if (options->window == WINDOW_ALL)
		state->own_window = 0;
	else if (options->window == WINDOW_SECONDS)
		state->own_window = options->window_seconds;
	if (options->filter)
		(void)snprintf(state->filter, sizeof(state->filter), "%s", options->filter);
	if (options->sort)
		top_state_set_sort(state, options->sort);
}

int top_live(const struct ctl_options *options, struct client **client, enum ctl_exit *ret)
{
	_cleanup_(screen_closep) struct screen *screen = NULL;
	struct live live = {.options = options};
	int r = screen_open(&screen);

	if (r == -ENODEV)
		return r;
	*ret = failure_of_output(r);
	if (r < 0)
		return 0;
	live.screen = screen;
	live_set_client(&live, TAKE_PTR(*client));
	begin_state(options, &live.state);
	live.shown_at = live.state.at;
	(void)screen_set_mouse(screen, true);
	run(&live);
	live_done(&live);
	return 0;
}
