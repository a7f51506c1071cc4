// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_live.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/json_get.h"
#include "base/moment.h"
#include "base/text.h"
#include "ctl/call/call.h"
#include "ctl/call/call_failure.h"
#include "ctl/top/screen.h"
#include "ctl/top/top_draw.h"
#include "ctl/top/top_request.h"
#include "format/style.h"

#define REFRESH_MS    1000
#define HOT_ROWS      8
#define HOT_SECONDS   60.0 /* lifetime of the open cgroup's hot tables; each refresh prolongs it */
#define TROUBLE_MAX   160
#define CLOCK_LENGTH  8 /* of "20:15:03" in an RFC 3339 time */
#define CLOCK_AT      11
#define LABEL_COLUMNS 13 /* to the left of a page's trend */

DEFINE_CLEANUP(struct screen *, screen_close)

struct live {
	const struct ctl_options *options;
	struct screen *screen;
	struct client *client; /* NULL: not connected */
	struct top_state state;
	struct top_table table; /* from the last reply */
	char clock[MOMENT_TEXT_MAX];
	char *page; /* text of the cgroup that is open; NULL: not fetched yet */
	size_t page_lines;
	char trouble[TROUBLE_MAX]; /* the reason why the display is old; "": it is not */
	time_t gone;               /* time since which no daemon answers; 0: a daemon answers */
};

static int wait_for_answer(int fd, void *userdata)
{
	struct live *live = userdata;

	return screen_wait_for(live->screen, fd, CLIENT_PATIENCE_SECONDS * 1000);
}

static void disconnect(struct live *live)
{
	live->client = client_close(live->client);
}

/* Sets `trouble` to the time of the lost connection, and the reason. */
static void note_lost_connection(struct live *live, int error)
{
	char since[TEXT_TIME_MAX];

	if (!live->gone)
		live->gone = time(NULL);
	text_time(&(struct timespec){.tv_sec = live->gone}, since);
	(void)snprintf(live->trouble, sizeof(live->trouble),
		       "lost connection to pebsd at %.*s UTC (%s): retrying", CLOCK_LENGTH, since + CLOCK_AT,
		       strerror(-error));
}

static int reconnect(struct live *live)
{
	int r;

	if (live->client)
		return 0;
	r = client_connect(live->options->socket, &live->client);
	if (r < 0) {
		live->client = NULL;
		note_lost_connection(live, r);
		return r;
	}
	client_set_wait(live->client, wait_for_answer, live);
	return 0;
}

/* Writes the reason why the daemon refused a call, otherwise the name of its error. */
static void write_refusal(const struct client_reply *reply, char *ret, size_t size)
{
	const char *permitted = json_get_text(reply->parameters, "permitted");
	const char *reason = json_get_text(reply->parameters, "reason");
	const char *name = strrchr(reply->error, '.');
	_cleanup_free_ char *visible = NULL;

	if (strcmp(reply->error, "io.pebsd.NoSuchCgroup") == 0)
		reason = "the cgroup no longer exists, or has no sample";
	visible = text_visible(permitted ? permitted : reason ? reason : name ? name + 1 : reply->error);
	(void)snprintf(ret, size, "%s%s",
		       permitted ? "the daemon permits this to "
		       : reason  ? ""
				 : "the daemon answered ",
		       visible ? visible : "?");
}

/*
 * Returns 0 with `ret`, which the caller puts. Returns -EREMOTEIO if the daemon refused the call, with the
 * reason in `refused`. Returns -ENOMEM if `parameters` is NULL. After any other error the connection is closed.
 */
static int ask(struct live *live, const char *method, json_object *parameters, json_object **ret,
	       char refused[TROUBLE_MAX])
{
	struct client_reply reply = {0};
	int r;

	if (!parameters)
		return -ENOMEM;
	r = client_call(live->client, method, parameters, &reply);
	if (r == 0 && reply.error) {
		write_refusal(&reply, refused, TROUBLE_MAX);
		r = -EREMOTEIO;
	} else if (r == 0) {
		*ret = json_object_get(reply.parameters);
	} else {
		disconnect(live);
		/* A key or a signal cancelled the wait: the daemon is not at fault. */
		if (r != -ECANCELED)
			note_lost_connection(live, r);
	}
	json_object_put(reply.root);
	return r;
}

static bool is_replay(json_object *status)
{
	const char *origin = json_get_text(status, "origin");

	return origin && strcmp(origin, "replay") == 0;
}

static struct format_style style_of(const struct live *live)
{
	struct format_style style = call_style(live->options);
	size_t rows;

	screen_room(live->screen, &style.width, &rows);
	style.colour = style.colour && screen_has_colour(live->screen);
	return style;
}

static size_t rows_of(const struct live *live)
{
	size_t columns, rows;

	screen_room(live->screen, &columns, &rows);
	return rows;
}

static const char *name_of_row(const void *table, size_t row, bool *ret_sum)
{
	const struct top_table *rows = table;

	*ret_sum = rows->rows[row - rows->first].members > 0;
	return rows->rows[row - rows->first].name;
}

static size_t lines_in(const char *text)
{
	size_t n = 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

static struct top_shown shown_of(const struct live *live)
{
	const struct top_table *table = &live->table;
	struct top_shown shown = {.rows = table->matching,
				  .room = top_room(live->state.page, rows_of(live)),
				  .n_events = table->n_events,
				  .waits = table->has_waits,
				  .first = table->first,
				  .n = table->n,
				  .name = name_of_row,
				  .table = table};

	if (live->state.page == TOP_CGROUP)
		shown.rows = live->page_lines;
	else if (live->state.page == TOP_HELP)
		shown.rows = lines_in(top_help());
	return shown;
}

/* Requests the visible rows, and a screenful before and after them. */
static struct top_request top_request_of(const struct live *live, json_object *status)
{
	const struct top_state *state = &live->state;
	size_t room = top_room(TOP_TABLE, rows_of(live));
	struct top_request request = {
		.past = state->at != 0,
		.range = top_state_range(state, is_replay(status)),
		.window_seconds = top_state_window(state, is_replay(status)),
		.sort = top_state_sort(state),
		.has_limit = true,
		.limit = 3 * room,
		.offset = state->first > room ? state->first - room : 0,
		.filter = state->filter,
		.sums = state->sums,
		.depth = state->depth,
		.event = top_event_key(status, state->event),
		/* The past that is asked for is too short for a trend. */
		.trend = state->at ? 0 : top_trend_cells(style_of(live).width),
		.trend_seconds = top_state_span(state),
	};

	if (live->options->has_limit && request.offset + request.limit > live->options->limit)
		request.limit =
			live->options->limit > request.offset ? live->options->limit - request.offset : 0;
	return request;
}

static int ask_top(void *userdata, json_object *parameters, json_object **ret)
{
	struct live *live = userdata;

	return ask(live, "io.pebsd.GetTop", parameters, ret, live->trouble);
}

static void take_clock(struct live *live, json_object *status)
{
	const char *taken = json_get_text(status, "taken");
	time_t seconds;

	if (live->state.at) {
		moment_show(live->state.at, localtime_r, live->clock);
		return;
	}
	/* Only in an RFC 3339 time is the time of day at a fixed position. */
	if (taken && text_parse_time(taken, &seconds) == 0)
		(void)snprintf(live->clock, sizeof(live->clock), "%.*s UTC", CLOCK_LENGTH, taken + CLOCK_AT);
}

static int fetch_table(struct live *live, json_object *status)
{
	size_t room = top_room(TOP_TABLE, rows_of(live));
	const struct top_request request = top_request_of(live, status);
	_cleanup_json_ json_object *top = NULL;
	struct top_table table;
	int r = top_request_rows(&request, ask_top, live, &top);

	if (r == 0)
		r = top_table_read(status, top, live->state.event, &table);
	if (r < 0)
		return r;
	top_table_done(&live->table);
	live->table = table;
	live->table.first = live->state.first > room ? live->state.first - room : 0;
	if (live->options->has_limit && live->table.matching > live->options->limit)
		live->table.matching = live->options->limit;
	return 0;
}

static json_object *cgroup_parameters(const struct live *live, double seconds)
{
	const struct call_range range = top_state_range(&live->state, false);
	const bool past = live->state.at != 0;
	_cleanup_json_ json_object *parameters = top_window_parameters(past ? 0 : seconds);
	size_t width = style_of(live).width;
	size_t cells = width >= LABEL_COLUMNS + 120 ? 120 : width >= LABEL_COLUMNS + 60 ? 60 : 20;

	if (!parameters || !call_add_name(parameters, "cgroup", live->state.selected) ||
	    (live->state.selected_sum &&
	     json_object_object_add(parameters, "subtree", json_object_new_boolean(1)) < 0) ||
	    (past && !call_add_range(parameters, &range)) ||
	    (!past && !top_add_trend(parameters, cells, top_state_span(&live->state))))
		return NULL;
	return TAKE_PTR(parameters);
}

static json_object *hot_parameters(const struct live *live)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();

	if (!parameters || !call_add_name(parameters, "cgroup", live->state.selected) ||
	    json_object_object_add(parameters, "limit", json_object_new_uint64(HOT_ROWS)) < 0 ||
	    json_object_object_add(parameters, "seconds", json_object_new_double(HOT_SECONDS)) < 0)
		return NULL;
	return TAKE_PTR(parameters);
}

/*
 * Appends the hottest code and cache lines, or the reason why there are none: a sum of cgroups has no hot
 * tables, and not every user may read hot tables.
 */
static int put_hottest(struct live *live, FILE *out, json_object *status, const struct format_style *style)
{
	_cleanup_json_ json_object *hot = NULL;
	char refused[TROUBLE_MAX] = "a sum of cgroups has no hot table; open one of its cgroups";
	int r = -EREMOTEIO;

	if (!live->state.selected_sum)
		r = ask(live, "io.pebsd.GetHot", hot_parameters(live), &hot, refused);
	(void)fputc('\n', out);
	line_head(out, style, "HOTTEST CODE AND CACHE LINES");
	if (r == 0)
		format_hot_places(out, status, hot, style);
	else
		line_put(out, style, NULL, "not available: %s", refused);
	return r == -EREMOTEIO ? 0 : r;
}

static int fetch_page(struct live *live, json_object *status)
{
	const struct format_style style = style_of(live);
	double seconds = top_state_window(&live->state, is_replay(status));
	_cleanup_json_ json_object *cgroup = NULL;
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r = ask(live, "io.pebsd.GetCgroup", cgroup_parameters(live, seconds), &cgroup, live->trouble);

	if (r < 0)
		return r;
	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	format_cgroup(out, status, cgroup, NULL, &style);
	/* Hot tables are of the present. */
	r = live->state.at ? 0 : put_hottest(live, out, status, &style);
	if (fclose(TAKE_PTR(out)) != 0)
		return -ENOMEM;
	if (r < 0)
		return r;
	free(live->page);
	live->page = TAKE_PTR(text);
	live->page_lines = lines_in(live->page);
	return 0;
}

static json_object *status_parameters(const struct live *live)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();
	struct call_range range = top_state_range(&live->state, false);

	if (!parameters || (live->state.at && !call_add_range(parameters, &range)))
		return NULL;
	return TAKE_PTR(parameters);
}

/* Fetches the data of the current page again. Failures are shown on the screen. */
static void fetch(struct live *live)
{
	_cleanup_json_ json_object *status = NULL;
	struct top_shown shown;
	int r = reconnect(live);

	if (r == 0)
		r = ask(live, "io.pebsd.GetStatus", status_parameters(live), &status, live->trouble);
	if (r == 0)
		r = live->state.page == TOP_CGROUP ? fetch_page(live, status) : fetch_table(live, status);
	if (r == 0) {
		live->trouble[0] = '\0';
		live->gone = 0;
		take_clock(live, status);
	} else if (r == -ENOMEM) {
		(void)snprintf(live->trouble, sizeof(live->trouble), "out of memory");
	}
	shown = shown_of(live);
	if (live->state.page == TOP_TABLE)
		top_state_settle(&live->state, &shown);
}

static void draw_page(struct live *live, FILE *out, const struct format_style *style)
{
	const char *trouble = *live->trouble ? live->trouble : NULL;

	if (live->state.page == TOP_HELP) {
		(void)top_draw_page(out, &live->state, "pebsctl top: keys and columns", top_help(), NULL,
				    rows_of(live), style);
		return;
	}
	(void)top_draw_page(out, &live->state, live->clock,
			    live->page ? live->page
			    : trouble  ? ""
				       : "waiting for the daemon\n",
			    trouble, rows_of(live), style);
}

static void draw(struct live *live)
{
	const struct format_style style = style_of(live);
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	if (live->state.page == TOP_TABLE)
		top_draw_table(out, &live->state, &live->table, live->clock,
			       *live->trouble ? live->trouble : NULL, rows_of(live), &style);
	else
		draw_page(live, out, &style);
	if (fclose(out) == 0)
		screen_draw(live->screen, text);
}

static long long now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Returns false if the user quits. */
static bool handle_key(struct live *live, u32 key)
{
	struct top_shown shown = shown_of(live);
	enum top_page page = live->state.page;
	enum top_action action;
	time_t at = live->state.at;

	live->state.now = time(NULL);
	action = top_state_key(&live->state, key, &shown);
	if (live->state.page != page || live->state.at != at) {
		free(live->page);
		live->page = NULL;
		live->page_lines = 0;
	}
	/* While frozen, the table on the screen is kept. */
	if (action == TOP_FETCH && !(live->state.frozen && live->state.page != TOP_CGROUP))
		fetch(live);
	if (action != TOP_NOTHING)
		draw(live);
	return action != TOP_QUIT;
}

static void resized(struct live *live)
{
	struct top_shown shown = shown_of(live);

	top_state_settle(&live->state, &shown);
	if (!live->state.frozen)
		fetch(live);
	draw(live);
}

static void run(struct live *live)
{
	long long next = now_ms() + REFRESH_MS;

	fetch(live);
	draw(live);
	for (;;) {
		long long left = next - now_ms();
		u32 key;

		switch (screen_wait(live->screen, -1, left > 0 ? (int)left : 0, &key)) {
		case SCREEN_END:
			return;
		case SCREEN_RESIZED:
			resized(live);
			break;
		case SCREEN_KEY:
			if (!handle_key(live, key))
				return;
			break;
		case SCREEN_READY:
		case SCREEN_TIME:
			/* The help page does not change. */
			if (!live->state.frozen && live->state.page != TOP_HELP &&
			    (live->state.at == 0 || *live->trouble)) {
				fetch(live);
				draw(live);
			}
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
				    .zone = localtime_r};
	if (call_is_past(options))
		state->at = call_range(options, 0).until;
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
	live.client = TAKE_PTR(*client);
	client_set_wait(live.client, wait_for_answer, &live);
	begin_state(options, &live.state);
	run(&live);
	disconnect(&live);
	top_state_done(&live.state);
	top_table_done(&live.table);
	free(live.page);
	return 0;
}
