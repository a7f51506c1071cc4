// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_fetch.h"

#include <errno.h>
#include <string.h>

#include "base/json_get.h"
#include "base/text.h"
#include "ctl/call/call.h"
#include "ctl/call/call_failure.h"
#include "ctl/call/call_style.h"
#include "ctl/top/top_request.h"
#include "format/style.h"

#define HOT_ROWS           8
#define HOT_SECONDS        60.0 /* lifetime of the open cgroup's hot tables; each refresh prolongs it */
#define LABEL_COLUMNS      13   /* to the left of a page's trend */
#define PANE_BINS          60
#define NEIGHBOURS_SECONDS 10   /* between two requests, which are costlier than others */
#define ALERTS_RANGE       3600 /* seconds before a past time, as in the present */
#define SUSPECTS_MAX       8
#define ZOOM_SECONDS       10
#define ZOOM_ROWS          20

static int wait_for_answer(int fd, void *userdata)
{
	struct live *live = userdata;

	return screen_wait_for(live->screen, fd, CLIENT_PATIENCE_SECONDS * 1000);
}

void live_set_client(struct live *live, struct client *client)
{
	live->client = client;
	client_set_wait(client, wait_for_answer, live);
}

static void disconnect(struct live *live)
{
	live->client = client_close(live->client);
}

/* Sets `trouble` to the time of the lost connection, and the reason. */
static void note_lost_connection(struct live *live, int error)
{
	char since[MOMENT_TEXT_MAX];

	if (!live->gone)
		live->gone = time(NULL);
	moment_show_clock(live->gone, live->state.zone, since);
	(void)snprintf(live->trouble, sizeof(live->trouble), "lost connection to pebsd at %s (%s): retrying",
		       since, strerror(-error));
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
	live_set_client(live, live->client);
	return 0;
}

/* Writes the reason why the daemon refused a call, with times in the style's zone, otherwise the name of its error. */
static void write_refusal(const struct client_reply *reply, const struct format_style *style,
			  char ret[TROUBLE_MAX])
{
	const char *permitted = json_get_text(reply->parameters, "permitted");
	const char *reason = json_get_text(reply->parameters, "reason");
	const char *name = strrchr(reply->error, '.');
	_cleanup_free_ char *visible = NULL;

	if (strcmp(reply->error, "io.pebsd.NoSuchCgroup") == 0)
		reason = "the cgroup no longer exists, or has no sample";
	(void)snprintf(ret, TROUBLE_MAX, "%s%s",
		       permitted ? "the daemon permits this to "
		       : reason  ? ""
				 : "the daemon answered ",
		       line_sentence(style,
				     permitted ? permitted
				     : reason  ? reason
				     : name    ? name + 1
					       : reply->error,
				     &visible));
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
		const struct format_style style = live_style(live);

		write_refusal(&reply, &style, refused);
		live->unfinished |= strcmp(reply.error, "io.pebsd.Busy") == 0;
		r = -EREMOTEIO;
	} else if (r == 0) {
		*ret = json_object_get(reply.parameters);
	} else {
		disconnect(live);
		/* A key or a signal cancelled the wait: the daemon is not at fault. */
		if (r != -ECANCELED)
			note_lost_connection(live, r);
		else
			live->unfinished = true;
	}
	json_object_put(reply.root);
	return r;
}

static bool is_replay(json_object *status)
{
	const char *origin = json_get_text(status, "origin");

	return origin && strcmp(origin, "replay") == 0;
}

struct format_style live_style(const struct live *live)
{
	struct format_style style = call_style(live->options);
	size_t rows;

	screen_size(live->screen, &style.width, &rows);
	style.colour = style.colour && screen_has_colour(live->screen);
	return style;
}

size_t live_rows(const struct live *live)
{
	size_t columns, rows;

	screen_size(live->screen, &columns, &rows);
	return rows;
}

static const char *name_of_row(const void *table, size_t row, bool *ret_sum)
{
	const struct top_table *rows = table;

	*ret_sum = rows->rows[row - rows->first].members > 0;
	return rows->rows[row - rows->first].name;
}

struct top_frame live_frame(const struct live *live, enum top_page page)
{
	return top_frame_of(page, live_style(live).width, live_rows(live), top_table_rows(&live->table));
}

struct top_shown live_shown(const struct live *live)
{
	const struct top_table *table = &live->table;
	struct top_shown shown = {.rows = table->matching,
				  .room = live_frame(live, live->state.page).room,
				  .n_events = table->n_events,
				  .figures = {table->latency, table->sources, table->has_waits},
				  .first = table->first,
				  .n = table->n,
				  .name = name_of_row,
				  .table = table,
				  .alerts = &live->alerts};

	if (live->state.page == TOP_ALERTS)
		shown.rows = live->alerts.n;
	else if (live->state.page == TOP_HELP)
		shown.rows = top_lines(top_help());
	else if (live->state.page != TOP_TABLE)
		shown.rows = live->page_lines;
	return shown;
}

/* Only the reply of GetTop says whether there are figures of waiting. */
static struct top_figures figures_of(json_object *status, const char *event)
{
	json_object *described = event ? json_get_object(json_get_object(status, "events"), event) : NULL;

	return (struct top_figures){.latency = figure_measures(described, "latency"),
				    .sources = figure_measures(described, "source"),
				    .waits = true};
}

/* Requests the visible rows, and a screenful before and after them. */
static struct top_request top_request_of(const struct live *live, json_object *status)
{
	const struct top_state *state = &live->state;
	size_t room = live_frame(live, TOP_TABLE).room;
	const char *event = top_event_key(status, state->event);
	const struct top_figures figures = figures_of(status, event);
	struct top_request request = {
		.past = state->at != 0,
		.range = top_state_range(state, is_replay(status)),
		.window_seconds = top_state_window(state, is_replay(status)),
		.sort = top_state_sort(state, &figures),
		.has_limit = true,
		.limit = 3 * room,
		.offset = state->first > room ? state->first - room : 0,
		.filter = state->filter,
		.sums = state->sums,
		.depth = state->depth,
		.event = event,
		/* The range that is shown of the past is too short for a trend. */
		.trend = state->at ? 0 : top_trend_cells(live_style(live).width),
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

/* Writes the time that a page shows. Call it when the figures of the page are those of that time. */
static void take_clock(const struct live *live, char ret[static MOMENT_TEXT_MAX])
{
	const char *taken = json_get_text(live->status, "taken");
	time_t seconds;

	if (live->state.at)
		moment_show(live->state.at, live->state.zone, ret);
	else if (taken && text_parse_time(taken, &seconds) == 0)
		moment_show_clock(seconds, live->state.zone, ret);
}

static int fetch_table(struct live *live, json_object *status)
{
	size_t room = live_frame(live, TOP_TABLE).room;
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
	/* The status of the past has no alerts. */
	if (live->state.at)
		live->table.firing = live->alerts.firing;
	if (live->options->has_limit && live->table.matching > live->options->limit)
		live->table.matching = live->options->limit;
	return 0;
}

static json_object *cgroup_parameters(const struct live *live, double seconds)
{
	const struct call_range range = top_state_range(&live->state, false);
	const bool past = live->state.at != 0;
	_cleanup_json_ json_object *parameters = top_window_parameters(past ? 0 : seconds);
	size_t width = live_style(live).width;
	size_t cells = width >= LABEL_COLUMNS + 120 ? 120 : width >= LABEL_COLUMNS + 60 ? 60 : 20;

	if (!parameters || !call_add_name(parameters, "cgroup", live->state.target) ||
	    (live->state.target_sum &&
	     json_object_object_add(parameters, "subtree", json_object_new_boolean(1)) < 0) ||
	    (past && !call_add_range(parameters, &range)) ||
	    (!past && !top_add_trend(parameters, cells, top_state_span(&live->state))))
		return NULL;
	return TAKE_PTR(parameters);
}

static json_object *hot_parameters(const struct live *live)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();

	if (!parameters || !call_add_name(parameters, "cgroup", live->state.target) ||
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

	if (!live->state.target_sum)
		r = ask(live, "io.pebsd.GetHot", hot_parameters(live), &hot, refused);
	(void)fputc('\n', out);
	line_head(out, style, "HOTTEST CODE AND CACHE LINES");
	if (r == 0)
		format_hot_places(out, status, hot, style);
	else
		line_put(out, style, NULL, "not available: %s", refused);
	return r == -EREMOTEIO ? 0 : r;
}

/* Adds the range of the past that is shown, or its last `seconds` if that is above 0. Adds nothing in the present. */
static bool add_past(const struct live *live, json_object *parameters, time_t seconds)
{
	struct call_range range = top_state_range(&live->state, false);

	if (seconds > 0)
		range.since = range.until - seconds;
	return live->state.at == 0 || call_add_range(parameters, &range);
}

/* A refusal leaves no alert: not every user may read alerts. */
static int fetch_alerts(struct live *live)
{
	_cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
	char refused[TROUBLE_MAX];
	struct top_alerts alerts;
	int r;

	if (!parameters || !add_past(live, parameters, ALERTS_RANGE))
		return -ENOMEM;
	r = ask(live, "io.pebsd.GetAlerts", TAKE_PTR(parameters), &reply, refused);
	if (r < 0 && r != -EREMOTEIO)
		return r;
	r = top_alerts_read(reply, live->state.at ? live->state.at : time(NULL), &alerts);
	if (r < 0)
		return r;
	top_alerts_done(&live->alerts);
	live->alerts = alerts;
	top_state_settle_alerts(&live->state, &live->alerts, live_frame(live, TOP_ALERTS).room);
	return 0;
}

static int read_pane(struct live *live, json_object *cgroup)
{
	const char *key = top_event_key(live->status, live->state.event);
	struct top_pane pane;
	int r = top_pane_read(live->status, cgroup, key, &pane);

	if (r < 0)
		return r;
	top_pane_done(&live->pane);
	live->pane = pane;
	return 0;
}

/* Adds the timeline to the pane of a past cgroup. On failure the pane still has its other figures. */
static int add_history(struct live *live, const char *cgroup, bool sum)
{
	const double seconds = top_state_span(&live->state);
	_cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
	const char *key = top_event_key(live->status, live->state.event);
	char refused[TROUBLE_MAX];
	int r;

	if (!live->state.at || !key)
		return 0;
	if (!call_add_name(parameters, "cgroup", cgroup) ||
	    (sum && json_object_object_add(parameters, "subtree", json_object_new_boolean(1)) < 0) ||
	    !add_past(live, parameters, (time_t)seconds) ||
	    json_object_object_add(parameters, "bins", json_object_new_int(PANE_BINS)) < 0)
		return -ENOMEM;
	r = ask(live, "io.pebsd.GetHistory", TAKE_PTR(parameters), &reply, refused);
	if (r == 0)
		top_pane_read_history(&live->pane, reply, key, PANE_BINS, seconds, live->state.at);
	return r == -EREMOTEIO ? 0 : r;
}

/* The pane of a cgroup that has no figures has the name alone. */
static int name_alone(const char *name, json_object **ret)
{
	*ret = json_object_new_object();
	return *ret && json_object_object_add(*ret, "cgroup", json_object_new_string(name)) == 0 ? 0
												 : -ENOMEM;
}

static int fetch_pane_of(struct live *live, const char *name, bool sum)
{
	double seconds = top_state_window(&live->state, is_replay(live->status));
	_cleanup_json_ json_object *parameters = top_window_parameters(live->state.at ? 0 : seconds),
				   *cgroup = NULL;
	char refused[TROUBLE_MAX];
	int r;

	if (!call_add_name(parameters, "cgroup", name) ||
	    (sum && json_object_object_add(parameters, "subtree", json_object_new_boolean(1)) < 0) ||
	    !add_past(live, parameters, 0) ||
	    (!live->state.at && !top_add_trend(parameters, PANE_BINS, top_state_span(&live->state))))
		return -ENOMEM;
	r = ask(live, "io.pebsd.GetCgroup", TAKE_PTR(parameters), &cgroup, refused);
	if (r == -EREMOTEIO)
		r = name_alone(name, &cgroup);
	if (r == 0)
		r = read_pane(live, cgroup);
	if (r == 0)
		r = add_history(live, name, sum);
	return r == -EREMOTEIO ? 0 : r;
}

static const struct top_row *marked_row(const struct live *live)
{
	const struct top_table *table = &live->table;
	size_t row = live->state.row;

	return row >= table->first && row - table->first < table->n ? &table->rows[row - table->first] : NULL;
}

bool live_pane_is_old(const struct live *live)
{
	const struct top_row *row = marked_row(live);

	return live->state.page == TOP_TABLE && row && live->status && live->client &&
	       live_frame(live, TOP_TABLE).pane_lines > 0 &&
	       (!live->pane.cgroup || strcmp(live->pane.cgroup, row->name) != 0);
}

const struct top_pane *live_shown_pane(const struct live *live)
{
	const bool of_row = live->state.page != TOP_TABLE || marked_row(live);

	return of_row && live->pane.cgroup && !live_pane_is_old(live) ? &live->pane : NULL;
}

void live_fetch_pane(struct live *live)
{
	const struct top_row *row = marked_row(live);

	if (row && live->client)
		(void)fetch_pane_of(live, row->name, row->members > 0);
}

/* Makes `text`, which it takes, the text of the page. Scrolls back if the text is shorter than before. */
static int take_page(struct live *live, char *text)
{
	if (!text)
		return -ENOMEM;
	free(live->page);
	live->page = text;
	live->page_lines = top_lines(text);
	top_state_settle_page(&live->state, live->page_lines, live_frame(live, live->state.page).room);
	return 0;
}

static int fetch_page(struct live *live)
{
	const struct format_style style = live_style(live);
	double seconds = top_state_window(&live->state, is_replay(live->status));
	_cleanup_json_ json_object *cgroup = NULL;
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r = ask(live, "io.pebsd.GetCgroup", cgroup_parameters(live, seconds), &cgroup, live->trouble);
	const bool none_then = r == -EREMOTEIO && live->state.at;

	/* The answer about the past stays the same. As trouble, refresh() would ask for it again each second. */
	if (none_then)
		r = name_alone(live->state.target, &cgroup);
	if (r == 0)
		r = read_pane(live, cgroup);
	if (r < 0)
		return r;
	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	if (none_then)
		line_put(out, &style, NULL, "not available: %s", live->trouble);
	else
		format_cgroup(out, live->status, cgroup, NULL, &style);
	/* Hot tables exist only in the present. */
	r = live->state.at ? 0 : put_hottest(live, out, live->status, &style);
	if (fclose(TAKE_PTR(out)) != 0)
		return -ENOMEM;
	return r < 0 ? r : take_page(live, TAKE_PTR(text));
}

static int put_explanation(struct live *live, FILE *out, const struct format_style *style)
{
	_cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
	char refused[TROUBLE_MAX];
	int r;

	if (!live->state.rule) {
		line_put(
			out, style, NULL,
			"No alert of this cgroup %s firing, pending or unknown%s, and none resolved in the hour before.",
			live->state.at ? "was" : "is", live->state.at ? " then" : "");
		return 0;
	}
	if (!call_add_name(parameters, "rule", live->state.rule) ||
	    !call_add_name(parameters, "cgroup", live->state.target) ||
	    !add_past(live, parameters, ALERTS_RANGE))
		return -ENOMEM;
	r = ask(live, "io.pebsd.Explain", TAKE_PTR(parameters), &reply, refused);
	if (r == 0) {
		format_explain_asked(out, reply, live->state.rule, live->state.target, style);
		format_explain(out, reply, NULL, NULL, time(NULL), style);
	} else if (r == -EREMOTEIO)
		line_put(out, style, NULL, "not available: %s", refused);
	return r == -EREMOTEIO ? 0 : r;
}

/* Names the suspect if no neighbour is named: after too few episodes, the strongest one may still be the cause. */
static char *suspect_of_episode(json_object *reply)
{
	json_object *list = json_get_array(reply, "neighbours");
	json_object *strongest = list ? json_object_array_get_idx(list, 0) : NULL;
	const char *verdict = json_get_text(reply, "verdict"), *name = json_get_text(strongest, "name");
	_cleanup_free_ char *visible = NULL;
	double strength;
	char *text;

	name = name ? name : json_get_text(strongest, "cgroup");
	if (!verdict || strcmp(verdict, "episode") != 0 || !name ||
	    !json_get_double(strongest, "strength", &strength))
		return strdup("no neighbour");
	visible = text_visible(name);
	if (!visible)
		return NULL;
	return asprintf(&text, "not proven, too few rises: %s (strength %.2f)", visible, strength) < 0 ? NULL
												       : text;
}

/* Names the neighbours that could be the cause. The caller frees the text; NULL: no memory. */
static char *suspects_of(json_object *reply)
{
	json_object *list = json_get_array(reply, "neighbours");
	_cleanup_free_ char *text = strdup("");
	size_t n = 0;

	for (size_t i = 0; text && list && i < json_object_array_length(list) && n < SUSPECTS_MAX; i++) {
		json_object *neighbour = json_object_array_get_idx(list, i);
		const char *name = json_get_text(neighbour, "name"),
			   *path = json_get_text(neighbour, "cgroup");
		_cleanup_free_ char *before = text, *visible = text_visible(name ? name : path ? path : "?");
		bool named = false;

		text = NULL;
		(void)json_get_bool(neighbour, "named", &named);
		if (asprintf(&text, "%s%s%s", before, named && n ? ", " : "",
			     named && visible ? visible : "") < 0)
			text = NULL;
		n += named;
	}
	if (n > 0)
		return TAKE_PTR(text);
	return suspect_of_episode(reply);
}

static int fetch_neighbours(struct live *live, const struct format_style *style)
{
	const struct call_range range = call_neighbours_range(live->state.at, time(NULL));
	_cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
	char refused[TROUBLE_MAX];
	char *text = NULL;
	size_t length;
	FILE *out;
	int r;

	if (live->neighbours && time(NULL) - live->neighbours_at < NEIGHBOURS_SECONDS)
		return 0;
	if (!call_add_name(parameters, "cgroup", live->state.target) ||
	    (live->state.at && !call_add_range(parameters, &range)))
		return -ENOMEM;
	r = ask(live, "io.pebsd.GetNeighbours", TAKE_PTR(parameters), &reply, refused);
	if (r < 0 && r != -EREMOTEIO)
		return r;
	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	free(live->suspects);
	live->suspects = r == 0 ? suspects_of(reply) : NULL;
	if (r == 0) {
		format_neighbours(out, reply, style);
	} else {
		line_put(out, style, NULL, "not available: %s", refused);
	}
	if (fclose(out) != 0)
		return -ENOMEM;
	free(live->neighbours);
	live->neighbours = text;
	live->neighbours_at = time(NULL);
	return 0;
}

static int fetch_explanation(struct live *live)
{
	const struct format_style style = live_style(live);
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r = fetch_pane_of(live, live->state.target, live->state.target_sum);

	if (r == 0)
		r = fetch_neighbours(live, &style);
	if (r < 0)
		return r;
	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	if (live->suspects)
		line_put(out, &style, "Suspected", "%s", live->suspects);
	r = put_explanation(live, out, &style);
	(void)fputc('\n', out);
	line_head(out, &style, "NEIGHBOURS");
	(void)fputs(live->neighbours ? live->neighbours : "", out);
	if (fclose(TAKE_PTR(out)) != 0)
		return -ENOMEM;
	return r < 0 ? r : take_page(live, TAKE_PTR(text));
}

static bool zoom_is_over(json_object *reply)
{
	const char *state = json_get_text(json_get_object(reply, "zoom"), "state");
	u64 unnamed = 0;

	(void)json_get_u64(reply, "unnamed", &unnamed);
	return state && strcmp(state, "done") == 0 && unnamed == 0;
}

static int ask_zoom(struct live *live, json_object **ret)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();
	const char *state;
	int r;

	if (!parameters ||
	    json_object_object_add(parameters, "zoom", json_object_new_uint64(live->zoom)) < 0 ||
	    json_object_object_add(parameters, "limit", json_object_new_int(ZOOM_ROWS)) < 0)
		return -ENOMEM;
	r = ask(live, "io.pebsd.GetZoom", TAKE_PTR(parameters), ret, live->trouble);
	if (r < 0)
		return r;
	state = json_get_text(json_get_object(*ret, "zoom"), "state");
	live->state.zoom_runs = state && strcmp(state, "running") == 0;
	if (zoom_is_over(*ret))
		live->zoom_report = json_object_get(*ret);
	return 0;
}

/* A report that no longer changes is formatted again, too: its text says how long ago the zoom was. */
static int fetch_zoom(struct live *live)
{
	const struct format_style style = live_style(live);
	_cleanup_json_ json_object *reply = json_object_get(live->zoom_report);
	char *text = NULL;
	size_t length;
	FILE *out;
	int r;

	if (live->zoom_refused || !live->zoom)
		return take_page(live, strdup(live->zoom_refused ? live->zoom_refused : ""));
	r = reply ? 0 : ask_zoom(live, &reply);
	if (r < 0)
		return r;
	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	format_zoom(out, reply, time(NULL), &style);
	if (fclose(out) != 0)
		return -ENOMEM;
	return take_page(live, text);
}

static void forget_zoom(struct live *live)
{
	free(live->zoom_refused);
	json_object_put(live->zoom_report);
	live->zoom_refused = NULL;
	live->zoom_report = NULL;
}

void live_begin_zoom(struct live *live)
{
	_cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
	char refused[TROUBLE_MAX] = "the daemon does not answer";
	int r = -ENOTCONN;

	forget_zoom(live);
	live->zoom = 0;
	live->state.zoom_runs = false;
	if (live->client && call_add_name(parameters, "cgroup", live->state.target) &&
	    json_object_object_add(parameters, "seconds", json_object_new_int(ZOOM_SECONDS)) == 0)
		r = ask(live, "io.pebsd.Zoom", TAKE_PTR(parameters), &reply, refused);
	if (r == 0 && json_get_u64(reply, "zoom", &live->zoom))
		live->state.zoom_runs = true;
	else if (asprintf(&live->zoom_refused, "No zoom is possible: %s\n", refused) < 0)
		live->zoom_refused = NULL;
}

void live_end_zoom(struct live *live)
{
	_cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
	char refused[TROUBLE_MAX];

	if (live->client && live->zoom && parameters &&
	    json_object_object_add(parameters, "zoom", json_object_new_uint64(live->zoom)) == 0)
		(void)ask(live, "io.pebsd.EndZoom", TAKE_PTR(parameters), &reply, refused);
	live->state.zoom_runs = false;
}

/* Fetches what the head of the zoom's page shows. */
static int fetch_zoom_page(struct live *live)
{
	int r = fetch_zoom(live);

	return r < 0 ? r : fetch_pane_of(live, live->state.target, live->state.target_sum);
}

static json_object *status_parameters(const struct live *live)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();
	struct call_range range = top_state_range(&live->state, false);

	if (!parameters || (live->state.at && !call_add_range(parameters, &range)))
		return NULL;
	return TAKE_PTR(parameters);
}

static int fetch_rows(struct live *live)
{
	const struct top_row *row;
	struct top_shown shown;
	int r = fetch_table(live, live->status);

	if (r < 0)
		return r;
	take_clock(live, live->table_clock);
	shown = live_shown(live);
	top_state_settle(&live->state, &shown);
	row = marked_row(live);
	if (row && live_frame(live, TOP_TABLE).pane_lines > 0)
		r = fetch_pane_of(live, row->name, row->members > 0);
	return r;
}

static int fetch_open_page(struct live *live)
{
	switch (live->state.page) {
	case TOP_TABLE:
		return fetch_rows(live);
	case TOP_CGROUP:
		return fetch_page(live);
	case TOP_EXPLAIN:
		return fetch_explanation(live);
	case TOP_ZOOM:
		return fetch_zoom_page(live);
	default:
		return 0;
	}
}

static int fetch(struct live *live)
{
	json_object *status = NULL;
	struct top_shown shown;
	int r = reconnect(live);

	live->unfinished = false;
	if (r == 0)
		r = ask(live, "io.pebsd.GetStatus", status_parameters(live), &status, live->trouble);
	if (r == 0) {
		json_object_put(live->status);
		live->status = status;
		live->shown_at = live->state.at;
		r = fetch_alerts(live);
	}
	if (r == 0)
		r = fetch_open_page(live);
	if (r == 0) {
		take_clock(live, live->clock);
		live->trouble[0] = '\0';
		live->gone = 0;
	} else if (r == -ENOMEM) {
		(void)snprintf(live->trouble, sizeof(live->trouble), "out of memory");
	}
	shown = live_shown(live);
	if (live->state.page == TOP_TABLE)
		top_state_settle(&live->state, &shown);
	return r;
}

void live_fetch(struct live *live)
{
	char time[MOMENT_TEXT_MAX];

	/* Figures of another time must not stay on the page of a cgroup that had no sample then. */
	if (live->state.at != live->shown_at && live->state.page != TOP_TABLE)
		top_pane_done(&live->pane);
	if (fetch(live) != -EREMOTEIO || live->state.at == live->shown_at)
		return;
	moment_show(live->state.at, live->state.zone, time);
	(void)snprintf(live->refused, sizeof(live->refused), "%s: %s", time, live->trouble);
	top_state_refuse_time(&live->state, live->shown_at, live->refused);
	(void)fetch(live);
}

void live_forget_page(struct live *live)
{
	free(live->page);
	free(live->neighbours);
	free(live->suspects);
	live->page = live->neighbours = live->suspects = NULL;
	live->page_lines = 0;
}

void live_done(struct live *live)
{
	disconnect(live);
	live_forget_page(live);
	forget_zoom(live);
	json_object_put(live->status);
	top_pane_done(&live->pane);
	top_alerts_done(&live->alerts);
	top_table_done(&live->table);
	top_state_done(&live->state);
}
