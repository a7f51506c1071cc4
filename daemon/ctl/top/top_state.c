// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_state.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "base/cleanup.h"
#include "ctl/top/screen.h"

#define DEFAULT_DEPTH 2
#define ALL_OF_PAST   3600 /* seconds that are shown of the past instead of the whole time */
#define STEPS         10   /* windows that < and > go */
#define WHEEL         3    /* lines that a step of the mouse's wheel goes */

/* Every event has samples. */
enum { SORT_SAMPLES = 1 };
static const char *const sorts[] = {
	"latency",          [SORT_SAMPLES] = "samples", "mean", "p99",        "share:hitm", "share:l3",
	"share:local_dram", "share:remote_dram",        "wait", "cores-lost", "cpi",        "misses",
	"traffic"};
static const double windows[] = {10, 60, 600, 0};
static const double spans[] = {600, 60, 3600};

static const char *chosen_sort(const struct top_state *state)
{
	if (state->sort < ARRAY_SIZE(sorts))
		return sorts[state->sort];
	return state->own_sort ? state->own_sort : sorts[0];
}

static bool has_figure(const char *sort, const struct top_figures *figures)
{
	if (strcmp(sort, "latency") == 0 || strcmp(sort, "mean") == 0 || strcmp(sort, "p99") == 0)
		return figures->latency;
	if (strcmp(sort, "share:hitm") == 0)
		return figures->latency && figures->sources;
	if (strncmp(sort, "share:", 6) == 0)
		return figures->sources;
	return figures->waits || strcmp(sort, sorts[SORT_SAMPLES]) == 0;
}

const char *top_state_sort(const struct top_state *state, const struct top_figures *figures)
{
	const char *sort = chosen_sort(state);

	return has_figure(sort, figures) ? sort : sorts[SORT_SAMPLES];
}

void top_state_set_sort(struct top_state *state, const char *sort)
{
	for (state->sort = 0; state->sort < ARRAY_SIZE(sorts); state->sort++)
		if (strcmp(sorts[state->sort], sort) == 0)
			return;
	state->own_sort = sort;
}

static size_t n_sorts(const struct top_state *state)
{
	return ARRAY_SIZE(sorts) + (state->own_sort ? 1 : 0);
}

double top_state_window(const struct top_state *state, bool replay)
{
	bool own = state->own_window >= 0;
	size_t usual = state->window - (own && state->window > 0);

	if (state->window == 0 && own)
		return state->own_window;
	if (replay && state->window == 0)
		return 0;
	return usual < ARRAY_SIZE(windows) ? windows[usual] : 0;
}

struct call_range top_state_range(const struct top_state *state, bool replay)
{
	double seconds = top_state_window(state, replay);

	return (struct call_range){state->at - (time_t)ceil(seconds > 0 ? seconds : ALL_OF_PAST), state->at};
}

static size_t n_windows(const struct top_state *state)
{
	return ARRAY_SIZE(windows) + (state->own_window >= 0 ? 1 : 0);
}

double top_state_span(const struct top_state *state)
{
	return spans[state->span];
}

static bool is_known(const struct top_shown *shown, size_t row)
{
	return row >= shown->first && row - shown->first < shown->n;
}

static void mark(struct top_state *state, size_t row, const struct top_shown *shown)
{
	const char *name = is_known(shown, row) ? shown->name(shown->table, row, &state->selected_sum) : NULL;

	free(state->selected);
	state->selected = name ? strdup(name) : NULL;
	state->row = row;
}

/* Marks the first row by its position: the mark stays there even when another cgroup moves to that row. */
static void mark_first(struct top_state *state)
{
	free(state->selected);
	state->selected = NULL;
	state->row = 0;
}

static void keep_in_sight(struct top_state *state, const struct top_shown *shown)
{
	if (state->row < state->first)
		state->first = state->row;
	if (shown->room > 0 && state->row >= state->first + shown->room)
		state->first = state->row - shown->room + 1;
	if (shown->room >= shown->rows)
		state->first = 0;
	else if (state->first > shown->rows - shown->room)
		state->first = shown->rows - shown->room;
}

void top_state_settle(struct top_state *state, const struct top_shown *shown)
{
	bool sum;

	for (size_t row = shown->first; state->selected && row < shown->first + shown->n; row++)
		if (strcmp(shown->name(shown->table, row, &sum), state->selected) == 0)
			state->row = row;
	/*
	 * If the marked row is gone, its position stays marked, or the last row if the table is shorter now.
	 */
	if (state->row >= shown->rows)
		state->row = shown->rows ? shown->rows - 1 : 0;
	if (state->row > 0 && !state->selected && is_known(shown, state->row))
		mark(state, state->row, shown);
	keep_in_sight(state, shown);
}

/* Returns TOP_FETCH if some rows on the screen have not been fetched yet, otherwise TOP_DRAW. */
static enum top_action draw_or_fetch(const struct top_state *state, const struct top_shown *shown)
{
	size_t end = state->first + shown->room < shown->rows ? state->first + shown->room : shown->rows;
	bool known = end <= state->first || (is_known(shown, state->first) && is_known(shown, end - 1));

	return known ? TOP_DRAW : TOP_FETCH;
}

/* Returns the row to which a key moves. */
static size_t moved(size_t row, u32 key, size_t rows, size_t room)
{
	size_t last = rows ? rows - 1 : 0, page = room ? room : 1;

	switch (key) {
	case SCREEN_UP:
		return row - (row > 0);
	case SCREEN_DOWN:
		return row + (row < last);
	case SCREEN_PAGE_UP:
		return row - (row < page ? row : page);
	case SCREEN_PAGE_DOWN:
		return row + page < last ? row + page : last;
	case SCREEN_FIRST:
		return 0;
	default:
		return last;
	}
}

static enum top_action go_to_row(struct top_state *state, size_t row, const struct top_shown *shown)
{
	if (row > 0)
		mark(state, row, shown);
	else
		mark_first(state);
	keep_in_sight(state, shown);
	return draw_or_fetch(state, shown);
}

void top_state_settle_page(struct top_state *state, size_t rows, size_t room)
{
	const size_t last = rows > room ? rows - room : 0;

	state->scroll = state->scroll < last ? state->scroll : last;
}

static enum top_action move_page(struct top_state *state, u32 key, const struct top_shown *shown)
{
	size_t page = shown->room > 1 ? shown->room - 1 : 1, to = state->scroll;

	switch (key) {
	case SCREEN_UP:
		to -= to > 0;
		break;
	case SCREEN_DOWN:
		to++;
		break;
	case SCREEN_PAGE_UP:
		to -= to < page ? to : page;
		break;
	case SCREEN_PAGE_DOWN:
	case ' ':
		to += page;
		break;
	case SCREEN_FIRST:
		to = 0;
		break;
	default:
		to = shown->rows;
	}
	state->scroll = to;
	top_state_settle_page(state, shown->rows, shown->room);
	return TOP_DRAW;
}

static bool is_movement(u32 key)
{
	return key == SCREEN_UP || key == SCREEN_DOWN || key == SCREEN_PAGE_UP || key == SCREEN_PAGE_DOWN ||
	       key == SCREEN_FIRST || key == SCREEN_LAST;
}

/* Removes the last character, which may be several bytes of UTF-8. */
static void shorten(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && ((unsigned char)text[--length] & 0xc0) == 0x80)
		;
	text[length] = '\0';
}

static bool is_typed(u32 key)
{
	return key < SCREEN_UP && iswprint((wint_t)key);
}

static void type(struct top_state *state, u32 key)
{
	char bytes[MB_LEN_MAX + 1] = "";
	mbstate_t conversion = {0};
	size_t length, used = strlen(state->typed);

	if (!is_typed(key))
		return;
	length = wcrtomb(bytes, (wchar_t)key, &conversion);
	if (length == (size_t)-1 || used + length >= sizeof(state->typed))
		return;
	memcpy(state->typed + used, bytes, length);
	state->typed[used + length] = '\0';
}

/* Goes to another moment. One that is later than now is the present. */
static enum top_action go_to(struct top_state *state, time_t at)
{
	state->at = at >= state->now ? 0 : at > 0 ? at : 1;
	state->frozen = false;
	return TOP_FETCH;
}

static enum top_action step(struct top_state *state, long steps)
{
	struct top_state present = *state;
	struct call_range range;

	if (state->at == 0 && state->tried == 0 && steps > 0)
		return TOP_NOTHING;
	if (state->tried)
		present.at = state->tried;
	else if (present.at == 0)
		present.at = state->now;
	state->tried = 0;
	range = top_state_range(&present, false);
	return go_to(state, present.at + steps * (range.until - range.since));
}

void top_state_refuse_time(struct top_state *state, time_t at, const char *why)
{
	state->tried = state->at;
	state->at = at;
	state->message = why;
	state->typing = state->jumped;
}

static enum top_action jump(struct top_state *state)
{
	time_t at;

	if (moment_parse(state->typed, state->now, state->zone ? state->zone : gmtime_r, &at) < 0) {
		state->message = "not a past time: type 03:12, yesterday 22:00, -2h or now";
		return TOP_DRAW;
	}
	state->typing = false;
	state->jumped = true;
	return go_to(state, at);
}

static enum top_action type_filter(struct top_state *state, u32 key)
{
	const bool before = state->typed_before;

	state->typed_before = false;
	switch (key) {
	case SCREEN_ENTER:
		if (state->typing_time && *state->typed)
			return jump(state);
		if (state->typing_time) {
			state->typing = false;
			return TOP_DRAW;
		}
		memcpy(state->filter, state->typed, sizeof(state->filter));
		state->typing = false;
		state->first = 0;
		mark_first(state);
		return TOP_FETCH;
	case SCREEN_ESCAPE:
		state->typing = false;
		return TOP_DRAW;
	case SCREEN_BACKSPACE:
		if (before)
			state->typed[0] = '\0';
		shorten(state->typed);
		return TOP_DRAW;
	case 'U' - '@': /* Ctrl-U: delete the line, as in a shell */
		state->typed[0] = '\0';
		return TOP_DRAW;
	default:
		if (before && is_typed(key))
			state->typed[0] = '\0';
		type(state, key);
		return TOP_DRAW;
	}
}

/* Returns true if the page is open, or below the one that is. */
static bool is_open(const struct top_state *state, enum top_page page)
{
	enum top_page below = state->page;

	while (below != TOP_TABLE && below != page)
		below = state->from[below];
	return below == page;
}

/* Opens a page, or returns to it if it is open below the present one. */
static void open_page(struct top_state *state, enum top_page page)
{
	state->scroll = 0;
	if (!is_open(state, page))
		state->from[page] = state->page;
	state->page = page;
}

static enum top_action leave_page(struct top_state *state)
{
	state->page = state->from[state->page];
	state->scroll = 0;
	return TOP_FETCH;
}

/* Sets `target` to the cgroup that the page marks or shows. Returns false if there is none, or no memory is left. */
static bool take_target(struct top_state *state, const struct top_shown *shown)
{
	const char *cgroup = NULL;
	bool sum = false;

	if (state->page == TOP_TABLE && is_known(shown, state->row))
		cgroup = shown->name(shown->table, state->row, &sum);
	else if (state->page == TOP_ALERTS && shown->alerts && state->alert < shown->alerts->n)
		cgroup = shown->alerts->list[state->alert].cgroup;
	else if (state->page != TOP_TABLE && state->page != TOP_ALERTS)
		return state->target;
	if (!cgroup)
		return false;
	/* The list was opened from a page of another cgroup: do not go back to that page. */
	if (state->page == TOP_ALERTS && state->target && strcmp(state->target, cgroup) != 0)
		state->from[TOP_ALERTS] = TOP_TABLE;
	free(state->target);
	state->target = strdup(cgroup);
	state->target_sum = sum;
	return state->target;
}

/* Chooses the rule to explain: that of the marked alert, or of the most urgent or last alert of the cgroup. */
static void take_rule(struct top_state *state, const struct top_shown *shown)
{
	const struct top_alert *alert = NULL;

	if (shown->alerts && state->page == TOP_ALERTS)
		alert = &shown->alerts->list[state->alert];
	else if (shown->alerts)
		alert = top_alerts_last_of(shown->alerts, state->target, NULL);
	free(state->rule);
	state->rule = alert ? strdup(alert->rule) : NULL;
}

static enum top_action say_nothing_is_marked(struct top_state *state)
{
	state->message = state->page == TOP_ALERTS ? "no alert is marked" : "no cgroup is marked";
	return TOP_DRAW;
}

static enum top_action open_cgroup(struct top_state *state, const struct top_shown *shown)
{
	if (!take_target(state, shown))
		return say_nothing_is_marked(state);
	if (state->page == TOP_TABLE)
		mark(state, state->row, shown);
	open_page(state, TOP_CGROUP);
	return TOP_FETCH;
}

static enum top_action open_explanation(struct top_state *state, const struct top_shown *shown)
{
	/* The list of alerts can choose another alert. All other pages above an explanation show its cgroup. */
	const bool again = state->page != TOP_ALERTS && is_open(state, TOP_EXPLAIN);

	if (!take_target(state, shown))
		return say_nothing_is_marked(state);
	if (state->page == TOP_TABLE)
		mark(state, state->row, shown);
	/* Another alert of the cgroup may have become the most urgent one. */
	if (!again || !state->rule)
		take_rule(state, shown);
	open_page(state, TOP_EXPLAIN);
	return TOP_FETCH;
}

static enum top_action ask_to_zoom(struct top_state *state, const struct top_shown *shown)
{
	if (state->at) {
		state->message = "zooms exist only in the present: press n to go there";
		return TOP_DRAW;
	}
	state->confirming = take_target(state, shown);
	return state->confirming ? TOP_DRAW : say_nothing_is_marked(state);
}

static enum top_action confirm(struct top_state *state, u32 key)
{
	if (key == SCREEN_ENTER) {
		state->confirming = state->frozen = false;
		open_page(state, TOP_ZOOM);
		return TOP_ZOOM_BEGIN;
	}
	if (key != SCREEN_ESCAPE && key != 'q' && key != 'z')
		return TOP_NOTHING;
	state->confirming = false;
	return TOP_DRAW;
}

static bool is_marked_alert(const struct top_state *state, const struct top_alerts *alerts, size_t i)
{
	return i < alerts->n && state->alert_rule && state->alert_cgroup &&
	       strcmp(alerts->list[i].rule, state->alert_rule) == 0 &&
	       strcmp(alerts->list[i].cgroup, state->alert_cgroup) == 0;
}

static void mark_alert(struct top_state *state, size_t row, const struct top_alerts *alerts)
{
	state->alert = row;
	free(state->alert_rule);
	free(state->alert_cgroup);
	state->alert_rule = row < alerts->n ? strdup(alerts->list[row].rule) : NULL;
	state->alert_cgroup = row < alerts->n ? strdup(alerts->list[row].cgroup) : NULL;
}

void top_state_settle_alerts(struct top_state *state, const struct top_alerts *alerts, size_t room)
{
	if (!is_marked_alert(state, alerts, state->alert))
		for (size_t i = 0; i < alerts->n; i++)
			if (is_marked_alert(state, alerts, i))
				state->alert = i;
	if (state->alert >= alerts->n)
		state->alert = alerts->n ? alerts->n - 1 : 0;
	/* At first no alert is marked. If the marked one is gone, mark the one that took its place. */
	if (is_open(state, TOP_ALERTS) && !is_marked_alert(state, alerts, state->alert))
		mark_alert(state, state->alert, alerts);
	if (state->alert < state->first_alert)
		state->first_alert = state->alert;
	if (room > 0 && state->alert >= state->first_alert + room)
		state->first_alert = state->alert - room + 1;
	/* After a resize, or in a shorter list, do not leave lines below the last alert free. */
	if (room >= alerts->n)
		state->first_alert = 0;
	else if (state->first_alert > alerts->n - room)
		state->first_alert = alerts->n - room;
}

/* Chooses the next order, `step` places further at a time, whose figure the event has. */
static void change_sort(struct top_state *state, size_t step, const struct top_shown *shown)
{
	if (!has_figure(chosen_sort(state), &shown->figures))
		state->sort = SORT_SAMPLES;
	do
		state->sort = (state->sort + step) % n_sorts(state);
	while (!has_figure(chosen_sort(state), &shown->figures));
}

/* Handles the keys that need a new table from the daemon. */
static enum top_action change(struct top_state *state, u32 key, const struct top_shown *shown)
{
	switch (key) {
	case 's':
		change_sort(state, 1, shown);
		break;
	case 'S':
		change_sort(state, n_sorts(state) - 1, shown);
		break;
	case 'w':
		state->window = (state->window + 1) % n_windows(state);
		break;
	case 't':
		state->span = (state->span + 1) % ARRAY_SIZE(spans);
		break;
	case 'e':
		state->event = shown->n_events ? (state->event + 1) % shown->n_events : 0;
		break;
	case 'd':
		state->sums = !state->sums;
		if (state->sums && state->depth == 0)
			state->depth = DEFAULT_DEPTH;
		break;
	case '+':
		state->depth += state->sums && state->depth < TOP_DEPTH_MAX;
		state->sums = true;
		break;
	case '-':
		state->depth -= state->sums && state->depth > 0;
		state->sums = true;
		break;
	case SCREEN_ESCAPE:
		if (!*state->filter)
			return TOP_NOTHING;
		state->filter[0] = '\0';
		break;
	default:
		return TOP_NOTHING;
	}
	return TOP_FETCH;
}

static enum top_action say_frozen(struct top_state *state)
{
	state->message = "frozen: press space to continue";
	return TOP_DRAW;
}

static enum top_action key_of_table(struct top_state *state, u32 key, const struct top_shown *shown)
{
	if (is_movement(key))
		return go_to_row(state, moved(state->row, key, shown->rows, shown->room), shown);
	if (state->frozen &&
	    ((key == SCREEN_ESCAPE && *state->filter) || (key < 128 && strchr("/sSwted+-", (int)key) && key)))
		return say_frozen(state);
	switch (key) {
	case SCREEN_ENTER:
	case SCREEN_RIGHT:
		return open_cgroup(state, shown);
	case '/':
		state->typing = true;
		state->typing_time = false;
		memcpy(state->typed, state->filter, sizeof(state->typed));
		state->typed_before = true;
		return TOP_DRAW;
	default:
		return change(state, key, shown);
	}
}

/* The keys that step through time, on the table and on the page of a cgroup. Returns false for another key. */
static bool key_of_time(struct top_state *state, u32 key, enum top_action *ret)
{
	switch (key) {
	case ',':
		*ret = step(state, -1);
		return true;
	case '.':
		*ret = step(state, 1);
		return true;
	case '<':
		*ret = step(state, -STEPS);
		return true;
	case '>':
		*ret = step(state, STEPS);
		return true;
	case 'n':
		*ret = state->at ? go_to(state, state->now) : TOP_NOTHING;
		return true;
	case 'j':
		state->typing = state->typing_time = true;
		state->typed_before = false;
		state->typed[0] = '\0';
		*ret = TOP_DRAW;
		return true;
	default:
		return false;
	}
}

static enum top_action key_of_alerts(struct top_state *state, u32 key, const struct top_shown *shown)
{
	if (is_movement(key) && shown->alerts) {
		mark_alert(state, moved(state->alert, key, shown->alerts->n, shown->room), shown->alerts);
		top_state_settle_alerts(state, shown->alerts, shown->room);
		return TOP_DRAW;
	}
	if (key == SCREEN_ENTER || key == SCREEN_RIGHT)
		return open_explanation(state, shown);
	return TOP_NOTHING;
}

/* The keys that are the same on all pages but the help. Returns false for another key. */
static bool key_of_all(struct top_state *state, u32 key, const struct top_shown *shown, enum top_action *ret)
{
	switch (key) {
	case 'h':
	case '?':
		open_page(state, TOP_HELP);
		*ret = TOP_DRAW;
		return true;
	case 'a':
		if (!is_open(state, TOP_ALERTS))
			mark_alert(state, 0, &(struct top_alerts){0});
		open_page(state, TOP_ALERTS);
		*ret = TOP_FETCH;
		return true;
	case 'x':
		*ret = open_explanation(state, shown);
		return true;
	case 'z':
		*ret = ask_to_zoom(state, shown);
		return true;
	case 'p':
		state->full_names = !state->full_names;
		*ret = TOP_DRAW;
		return true;
	case 'm':
		state->no_mouse = !state->no_mouse;
		*ret = TOP_MOUSE;
		return true;
	case ' ':
	case 'f':
		*ret = TOP_DRAW;
		if (state->at) {
			state->message = "this is the past: press n for now";
			return true;
		}
		state->frozen = !state->frozen;
		if (!state->frozen)
			*ret = TOP_FETCH;
		return true;
	default:
		return false;
	}
}

static enum top_action key_of_page(struct top_state *state, u32 key, const struct top_shown *shown)
{
	if (key == SCREEN_ESCAPE && state->page == TOP_ZOOM && state->zoom_runs)
		return TOP_ZOOM_END;
	if (key == SCREEN_ESCAPE || key == SCREEN_LEFT || key == SCREEN_BACKSPACE)
		return leave_page(state);
	if (state->page == TOP_ALERTS)
		return key_of_alerts(state, key, shown);
	if (is_movement(key))
		return move_page(state, key, shown);
	if (key == SCREEN_ENTER && state->page == TOP_EXPLAIN)
		return open_cgroup(state, shown);
	if (state->page == TOP_CGROUP && (key == 'w' || key == 't'))
		return state->frozen ? say_frozen(state) : change(state, key, shown);
	return TOP_NOTHING;
}

enum top_action top_state_key(struct top_state *state, u32 key, const struct top_shown *shown)
{
	enum top_action action;

	state->message = NULL;
	state->clicked = state->jumped = false;
	if (key >= 128 || !key || !strchr(",.<>", (int)key))
		state->tried = 0;
	if (state->confirming)
		return confirm(state, key);
	if (state->typing)
		return type_filter(state, key);
	if (key == 'q' || key == 'Q')
		return TOP_QUIT;
	if (state->page == TOP_HELP)
		return is_movement(key) ? move_page(state, key, shown) : leave_page(state);
	/* Zooms exist only in the present, so keys of time have no effect there. */
	if (state->page != TOP_ZOOM && key_of_time(state, key, &action))
		return action;
	if (key_of_all(state, key, shown, &action))
		return action;
	return state->page == TOP_TABLE ? key_of_table(state, key, shown) : key_of_page(state, key, shown);
}

static enum top_action turn_wheel(struct top_state *state, bool up, const struct top_shown *shown)
{
	enum top_action most = TOP_NOTHING;

	for (int i = 0; i < WHEEL; i++) {
		enum top_action action = top_state_key(state, up ? SCREEN_UP : SCREEN_DOWN, shown);

		most = action > most ? action : most;
	}
	return most;
}

static enum top_action sort_by(struct top_state *state, const char *sort)
{
	if (state->frozen)
		return say_frozen(state);
	top_state_set_sort(state, sort);
	return TOP_FETCH;
}

enum top_action top_state_mouse(struct top_state *state, u32 key, size_t line, const char *sort,
				const struct top_shown *shown)
{
	bool again = state->clicked, alerts = state->page == TOP_ALERTS;

	if (state->typing || state->confirming)
		return TOP_NOTHING;
	if (key != SCREEN_CLICK)
		return turn_wheel(state, key == SCREEN_WHEEL_UP, shown);
	state->message = NULL;
	state->clicked = false;
	if (sort && state->page == TOP_TABLE)
		return sort_by(state, sort);
	if (line >= shown->rows || !(alerts ? shown->alerts != NULL : state->page == TOP_TABLE))
		return TOP_NOTHING;
	if (again && line == (alerts ? state->alert : state->row))
		return alerts ? open_explanation(state, shown) : open_cgroup(state, shown);
	state->clicked = true;
	if (!alerts)
		return go_to_row(state, line, shown);
	mark_alert(state, line, shown->alerts);
	top_state_settle_alerts(state, shown->alerts, shown->room);
	return TOP_DRAW;
}

void top_state_done(struct top_state *state)
{
	free(state->selected);
	free(state->target);
	free(state->rule);
	free(state->alert_rule);
	free(state->alert_cgroup);
	state->selected = state->target = state->rule = state->alert_rule = state->alert_cgroup = NULL;
}
