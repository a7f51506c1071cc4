// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ctl/top/screen.h"
#include "ctl/top/top_state.h"

static struct top_state state = {.own_window = -1};

static void end(void)
{
	top_state_done(&state);
}

/* A hundred rows r0, r1, and so on. `table` is the number of rows by which they have moved down. */
static const char *name_of(const void *table, size_t row, bool *ret_sum)
{
	static char name[16];

	*ret_sum = row % 2;
	(void)snprintf(name, sizeof(name), "r%zu", row - *(const size_t *)table);
	return name;
}

static const size_t in_place, one_down = 1;
static const struct top_figures all = {.latency = true, .sources = true, .waits = true};

static struct top_shown shown(const size_t *moved)
{
	return (struct top_shown){.rows = 100,
				  .room = 10,
				  .n_events = 2,
				  .figures = {.latency = true, .sources = true},
				  .first = *moved,
				  .n = 30,
				  .name = name_of,
				  .table = moved};
}

static enum top_action key(u32 what)
{
	struct top_shown rows = shown(&in_place);

	return top_state_key(&state, what, &rows);
}

TestSuite(top_state, .fini = end);

Test(top_state, the_selection_moves_and_scrolls_the_table)
{
	cr_expect_eq(key(SCREEN_UP), TOP_DRAW);
	cr_expect(state.row == 0 && !state.selected);
	cr_expect_eq(key(SCREEN_DOWN), TOP_DRAW);
	cr_expect(state.row == 1 && strcmp(state.selected, "r1") == 0 && state.selected_sum);
	cr_expect_eq(key(SCREEN_PAGE_DOWN), TOP_DRAW);
	cr_expect(state.row == 11 && state.first == 2);
	cr_expect_eq(key(SCREEN_LAST), TOP_FETCH, "rows that are not known are fetched");
	cr_expect(state.row == 99 && state.first == 90 && !state.selected);
	cr_expect_eq(key(SCREEN_FIRST), TOP_DRAW);
	cr_expect(state.row == 0 && state.first == 0);
}

Test(top_state, a_selected_cgroup_stays_selected)
{
	struct top_shown moved = shown(&one_down);

	for (int i = 0; i < 9; i++)
		(void)key(SCREEN_DOWN);
	cr_expect_str_eq(state.selected, "r9");
	top_state_settle(&state, &moved);
	cr_expect(state.row == 10 && state.first == 1, "it and the table moved on");

	moved.rows = moved.n = 3;
	moved.first = 0;
	moved.table = &in_place;
	top_state_settle(&state, &moved);
	cr_expect_eq(state.row, 2, "it is gone: the last one has the mark");
	cr_expect_eq(state.first, 0);
	moved.rows = moved.n = 0;
	top_state_settle(&state, &moved);
	cr_expect_eq(state.row, 0);
	for (const char *at = "\nxz"; *at; at++) {
		cr_expect_eq(top_state_key(&state, (u32)*at, &moved), TOP_DRAW, "there is nothing to open");
		cr_expect_str_eq(state.message, "no cgroup is marked");
	}
	cr_expect_eq(state.page, TOP_TABLE);
}

Test(top_state, a_filter_can_be_typed)
{
	cr_expect_eq(key('/'), TOP_DRAW);
	cr_expect_eq(key('q'), TOP_DRAW, "a letter like others now");
	(void)key(' ');
	(void)key('x');
	(void)key(SCREEN_UP);
	(void)key(SCREEN_BACKSPACE);
	cr_expect_str_eq(state.typed, "q ");
	cr_expect_str_eq(state.filter, "");
	cr_expect_eq(key(SCREEN_ENTER), TOP_FETCH);
	cr_expect_str_eq(state.filter, "q ");
	(void)key('/');
	(void)key('z');
	cr_expect_eq(key(SCREEN_ESCAPE), TOP_DRAW);
	cr_expect_str_eq(state.filter, "q ", "not taken");
	/* The filter from before stays until something else is typed. */
	(void)key('/');
	cr_expect(state.typed_before && strcmp(state.typed, "q ") == 0);
	(void)key(SCREEN_UP);
	cr_expect_eq(key(SCREEN_ENTER), TOP_FETCH);
	cr_expect_str_eq(state.filter, "q ");
	(void)key('/');
	(void)key('a');
	(void)key('b');
	cr_expect_str_eq(state.typed, "ab");
	(void)key(SCREEN_ESCAPE);
	(void)key('/');
	(void)key(SCREEN_BACKSPACE);
	cr_expect_str_eq(state.typed, "");
	(void)key(SCREEN_ESCAPE);
	for (int i = 0; i < 2 * TOP_FILTER_MAX; i++)
		(void)key(i ? 'a' : '/');
	cr_expect_eq(strlen(state.typed), TOP_FILTER_MAX - 1);
	(void)key(SCREEN_ESCAPE);
	cr_expect_eq(key(SCREEN_ESCAPE), TOP_FETCH);
	cr_expect_str_eq(state.filter, "");
	cr_expect_eq(key(SCREEN_ESCAPE), TOP_NOTHING);
}

Test(top_state, orders_windows_spans_events_and_depths_cycle)
{
	cr_expect_str_eq(top_state_sort(&state, &all), "latency");
	(void)key('S');
	cr_expect_str_eq(top_state_sort(&state, &all), "share:remote_dram");
	(void)key('s');
	cr_expect_str_eq(top_state_sort(&state, &all), "latency");
	top_state_set_sort(&state, "share:cxl");
	cr_expect_str_eq(top_state_sort(&state, &all), "share:cxl");
	(void)key('s');
	cr_expect_str_eq(top_state_sort(&state, &all), "latency");
	top_state_set_sort(&state, "p99");
	cr_expect_str_eq(top_state_sort(&state, &all), "p99");

	cr_expect_eq(top_state_window(&state, false), 10);
	cr_expect_eq(top_state_window(&state, true), 0, "all of a replay");
	(void)key('w');
	cr_expect_eq(top_state_window(&state, false), 60);
	state = (struct top_state){.own_window = 5};
	cr_expect_eq(top_state_window(&state, true), 5);
	(void)key('w');
	cr_expect_eq(top_state_window(&state, false), 10);
	for (int i = 0; i < 4; i++)
		(void)key('w');
	cr_expect_eq(top_state_window(&state, false), 5);

	cr_expect_eq(top_state_span(&state), 600);
	(void)key('t');
	cr_expect_eq(top_state_span(&state), 60);
	(void)key('e');
	(void)key('e');
	cr_expect_eq(state.event, 0);
	(void)key('d');
	cr_expect(state.sums && state.depth == 2);
	for (int i = 0; i < 5; i++)
		(void)key('-');
	cr_expect(state.sums && state.depth == 0);
	for (int i = 0; i < 200; i++)
		(void)key('+');
	cr_expect_eq(state.depth, TOP_DEPTH_MAX);
}

Test(top_state, a_frozen_table_is_not_changed)
{
	cr_expect_eq(key(' '), TOP_DRAW);
	for (const char *at = "/sSwted+-"; *at; at++) {
		cr_expect_eq(key((u32)*at), TOP_DRAW);
		cr_expect_not_null(state.message);
	}
	cr_expect_eq(state.sort + state.window + state.event + state.span, 0);
	(void)strcpy(state.filter, "web");
	cr_expect_eq(key(SCREEN_ESCAPE), TOP_DRAW);
	cr_expect_not_null(state.message);
	cr_expect_str_eq(state.filter, "web", "the rows on the screen are those of the filter");
	state.page = TOP_CGROUP;
	cr_expect_eq(key('w'), TOP_DRAW);
	cr_expect_not_null(state.message);
	cr_expect_eq(state.window, 0);
	state.page = TOP_TABLE;
	cr_expect_eq(key(SCREEN_DOWN), TOP_DRAW, "the mark moves");
	cr_expect_null(state.message);
	cr_expect_eq(key('f'), TOP_FETCH);
	cr_expect_eq(key('q'), TOP_QUIT);
}

Test(top_state, a_long_page_fills_the_screen)
{
	state = (struct top_state){.page = TOP_CGROUP, .scroll = 20};
	top_state_settle_page(&state, 30, 10);
	cr_expect_eq(state.scroll, 20);
	top_state_settle_page(&state, 30, 25);
	cr_expect_eq(state.scroll, 5, "the screen is larger");
	top_state_settle_page(&state, 27, 25);
	cr_expect_eq(state.scroll, 2, "the text is shorter");
	top_state_settle_page(&state, 0, 25);
	cr_expect_eq(state.scroll, 0);
}

Test(top_state, pages_open_scroll_and_close)
{
	(void)key(SCREEN_DOWN);
	cr_expect_eq(key(SCREEN_ENTER), TOP_FETCH);
	cr_expect_eq(state.page, TOP_CGROUP);
	(void)key(SCREEN_LAST);
	cr_expect_eq(state.scroll, 90);
	(void)key(SCREEN_DOWN);
	cr_expect_eq(state.scroll, 90);
	(void)key(SCREEN_PAGE_UP);
	cr_expect_eq(state.scroll, 81);
	cr_expect_eq(key(SCREEN_LEFT), TOP_FETCH);
	cr_expect(state.page == TOP_TABLE && state.scroll == 0 && state.row == 1);
	cr_expect_eq(key('?'), TOP_DRAW);
	cr_expect_eq(state.page, TOP_HELP);
	cr_expect_eq(key('x'), TOP_FETCH, "any other key leaves it");
	cr_expect_eq(key(SCREEN_OTHER_KEY), TOP_NOTHING);
	cr_expect_eq(key(0), TOP_NOTHING);
}

Test(top_state, orders_by_waiting_are_left_out_without_its_figures)
{
	struct top_shown rows = shown(&in_place);
	bool any = false;

	for (int i = 0; i < 8; i++) {
		(void)top_state_key(&state, 's', &rows);
		any = any || strcmp(top_state_sort(&state, &all), "wait") == 0;
	}
	cr_expect_not(any);
	cr_expect_str_eq(top_state_sort(&state, &all), "latency", "the first order again");
	(void)top_state_key(&state, 'S', &rows);
	cr_expect_str_eq(top_state_sort(&state, &all), "share:remote_dram");

	rows.figures = all;
	(void)top_state_key(&state, 's', &rows);
	cr_expect_str_eq(top_state_sort(&state, &all), "wait");
	(void)top_state_key(&state, 's', &rows);
	cr_expect_str_eq(top_state_sort(&state, &all), "cores-lost");
}

Test(top_state, an_event_without_the_figure_of_the_order_is_sorted_by_samples)
{
	static const struct top_figures counts = {.waits = true}, stores = {.sources = true};
	static const struct {
		const char *sort, *of_counts, *of_stores;
	} cases[] = {
		{"latency", "samples", "samples"},    {"p99", "samples", "samples"},
		{"share:hitm", "samples", "samples"}, {"share:remote_dram", "samples", "share:remote_dram"},
		{"wait", "wait", "samples"},          {"samples", "samples", "samples"}};
	struct top_shown rows = shown(&in_place);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		top_state_set_sort(&state, cases[i].sort);
		cr_expect_str_eq(top_state_sort(&state, &counts), cases[i].of_counts);
		cr_expect_str_eq(top_state_sort(&state, &stores), cases[i].of_stores);
		cr_expect_str_eq(top_state_sort(&state, &all), cases[i].sort, "the event before, again");
	}
	/* The next order is one that the event has, after the one that is shown. */
	top_state_set_sort(&state, "latency");
	rows.figures = counts;
	(void)top_state_key(&state, 's', &rows);
	cr_expect_str_eq(top_state_sort(&state, &all), "wait");
	(void)top_state_key(&state, 'S', &rows);
	cr_expect_str_eq(top_state_sort(&state, &all), "samples");
}

#define NOW 1795240800 /* 2026-11-21T06:00:00Z */

Test(top_state, keys_step_through_time)
{
	struct call_range range;

	state = (struct top_state){.own_window = -1, .now = NOW};
	cr_expect_eq(key('.'), TOP_NOTHING, "nothing is later than the present");
	cr_expect_eq(key('n'), TOP_NOTHING);
	cr_expect_eq(key(','), TOP_FETCH);
	cr_expect_eq(state.at, NOW - 10);
	range = top_state_range(&state, false);
	cr_expect(range.since == NOW - 20 && range.until == NOW - 10);
	cr_expect_eq(key('<'), TOP_FETCH);
	cr_expect_eq(state.at, NOW - 110);
	cr_expect_eq(key('.'), TOP_FETCH);
	cr_expect_eq(state.at, NOW - 100);
	cr_expect_eq(key('>'), TOP_FETCH);
	cr_expect_eq(state.at, 0, "the present");
	/* A window of the past is not the whole time, but an hour. */
	state.own_window = 0;
	cr_expect_eq(key(','), TOP_FETCH);
	cr_expect_eq(state.at, NOW - 3600);
	cr_expect_eq(key(' '), TOP_DRAW);
	cr_expect(!state.frozen && state.message);
	cr_expect_eq(key('n'), TOP_FETCH);
	cr_expect_eq(state.at, 0);
	/* Going to another time ends the freeze. */
	cr_expect_eq(key(' '), TOP_DRAW);
	cr_expect(state.frozen);
	cr_expect_eq(key(','), TOP_FETCH);
	cr_expect_not(state.frozen);
}

Test(top_state, a_time_can_be_typed)
{
	state = (struct top_state){.own_window = -1, .now = NOW, .filter = "web"};
	cr_expect_eq(key('j'), TOP_DRAW);
	cr_expect(state.typing && state.typing_time && !*state.typed);
	for (const char *at = "03:1x"; *at; at++)
		key((u32)*at);
	cr_expect_eq(key(SCREEN_ENTER), TOP_DRAW);
	cr_expect(state.typing && state.message, "it can be corrected");
	key(SCREEN_BACKSPACE);
	key('2');
	cr_expect_eq(key(SCREEN_ENTER), TOP_FETCH);
	cr_expect_not(state.typing);
	cr_expect_eq(state.at, 1795230720); /* 2026-11-21T03:12:00Z */
	cr_expect_str_eq(state.filter, "web");
	key('j');
	cr_expect_eq(key(SCREEN_ESCAPE), TOP_DRAW);
	cr_expect_eq(state.at, 1795230720);
	/* Nothing is typed: cancelled. */
	key('j');
	cr_expect_eq(key(SCREEN_ENTER), TOP_DRAW);
	cr_expect(!state.typing && !state.message && state.at == 1795230720);
	/* The filter is typed as before. */
	key('/');
	cr_expect(state.typing && !state.typing_time);
}

Test(top_state, a_time_without_figures_is_left)
{
	static const char why[] = "nothing is stored for this time";

	state = (struct top_state){.own_window = -1, .now = NOW};
	key('j');
	for (const char *at = "-2h"; *at; at++)
		key((u32)*at);
	cr_expect_eq(key(SCREEN_ENTER), TOP_FETCH);
	top_state_refuse_time(&state, 0, why);
	cr_expect(state.at == 0 && state.typing && state.typing_time, "it can be corrected");
	cr_expect_str_eq(state.typed, "-2h");
	cr_expect_str_eq(state.message, why);
	(void)key(SCREEN_ESCAPE);
	/* A step is not typed. */
	cr_expect_eq(key(','), TOP_FETCH);
	top_state_refuse_time(&state, NOW - 30, why);
	cr_expect(state.at == NOW - 30 && !state.typing && state.message == why);
	/* The next step starts at the refused time, so that steps can cross a gap. */
	state.at = NOW - 40;
	top_state_refuse_time(&state, NOW - 30, why);
	cr_expect_eq(key(','), TOP_FETCH);
	cr_expect_eq(state.at, NOW - 50);
	top_state_refuse_time(&state, NOW - 30, why);
	(void)key(SCREEN_DOWN);
	cr_expect_eq(key(','), TOP_FETCH);
	cr_expect_eq(state.at, NOW - 40, "another key begins again");
	state.at = NOW - 20;
	top_state_refuse_time(&state, 0, why);
	cr_expect_eq(key('.'), TOP_FETCH);
	cr_expect_eq(state.at, NOW - 10);
}

static struct top_alert list[] = {
	{.state = TOP_ALERT_FIRING, .rule = (char *)"slow", .cgroup = (char *)"r1"},
	{.state = TOP_ALERT_OTHER, .rule = (char *)"slow", .cgroup = (char *)"r2"},
	{.state = TOP_ALERT_PENDING, .rule = (char *)"remote", .cgroup = (char *)"r3"}};
static const struct top_alerts alerts = {.list = list, .n = 3};

static struct top_shown with_alerts(void)
{
	struct top_shown rows = shown(&in_place);

	rows.alerts = &alerts;
	return rows;
}

Test(top_state, alerts_are_listed_and_explained)
{
	struct top_shown rows = with_alerts();

	cr_expect_eq(top_state_key(&state, 'a', &rows), TOP_FETCH);
	cr_expect_eq(state.page, TOP_ALERTS);
	cr_expect_eq(top_state_key(&state, SCREEN_LAST, &rows), TOP_DRAW);
	cr_expect_eq(state.alert, 2);
	cr_expect_eq(top_state_key(&state, SCREEN_ENTER, &rows), TOP_FETCH);
	cr_expect_eq(state.page, TOP_EXPLAIN);
	cr_expect_str_eq(state.target, "r3");
	cr_expect_str_eq(state.rule, "remote");
	cr_expect_eq(top_state_key(&state, SCREEN_ENTER, &rows), TOP_FETCH, "the cgroup itself");
	cr_expect(state.page == TOP_CGROUP && strcmp(state.target, "r3") == 0);
	/* Each Escape goes back to the page from which this one was opened. */
	cr_expect_eq(top_state_key(&state, SCREEN_ESCAPE, &rows), TOP_FETCH);
	cr_expect_eq(state.page, TOP_EXPLAIN);
	(void)top_state_key(&state, 'a', &rows);
	cr_expect_eq(state.page, TOP_ALERTS, "the list that is open already");
	(void)top_state_key(&state, SCREEN_ESCAPE, &rows);
	cr_expect_eq(state.page, TOP_TABLE);
	cr_expect_eq(top_state_key(&state, SCREEN_ESCAPE, &rows), TOP_NOTHING);
}

Test(top_state, the_selected_alert_stays_selected)
{
	struct top_alert moved[] = {list[2], list[0]};
	const struct top_alerts fewer = {.list = moved, .n = 2};
	struct top_shown rows = with_alerts();

	state = (struct top_state){.own_window = -1, .page = TOP_ALERTS};
	(void)top_state_key(&state, SCREEN_LAST, &rows);
	top_state_settle_alerts(&state, &fewer, 10);
	cr_expect_eq(state.alert, 0);
	top_state_settle_alerts(&state, &alerts, 1);
	cr_expect(state.alert == 2 && state.first_alert == 2);
	top_state_settle_alerts(&state, &alerts, 2);
	cr_expect(state.alert == 2 && state.first_alert == 1, "no line stays empty");
	top_state_settle_alerts(&state, &(struct top_alerts){0}, 10);
	cr_expect_eq(state.alert, 0);
	rows.alerts = &(struct top_alerts){0};
	cr_expect_eq(top_state_key(&state, SCREEN_ENTER, &rows), TOP_DRAW, "nothing to explain");
	cr_expect_str_eq(state.message, "no alert is marked");
}

/* Enter explains the alert that the user saw marked, although the list has changed meanwhile. */
Test(top_state, the_first_alert_stays_selected_when_another_is_added)
{
	struct top_alert with_new[] = {{.rule = (char *)"new", .cgroup = (char *)"r9"}, list[0], list[2]};
	const struct top_alerts later = {.list = with_new, .n = 3}, without = {.list = list + 1, .n = 2};
	struct top_shown rows = with_alerts();

	(void)top_state_key(&state, 'a', &rows);
	top_state_settle_alerts(&state, &alerts, 10);
	cr_expect_eq(state.alert, 0);
	top_state_settle_alerts(&state, &later, 10);
	cr_expect_eq(state.alert, 1);
	rows.alerts = &later;
	(void)top_state_key(&state, SCREEN_ENTER, &rows);
	cr_expect(strcmp(state.target, "r1") == 0 && strcmp(state.rule, "slow") == 0);
	(void)top_state_key(&state, SCREEN_ESCAPE, &rows);
	/* When the marked alert is gone, another one gets the mark and keeps it. */
	top_state_settle_alerts(&state, &without, 10);
	cr_expect_eq(state.alert, 1);
	cr_expect_str_eq(state.alert_cgroup, "r3");
	/* The list that is opened again begins at its top. */
	(void)top_state_key(&state, SCREEN_ESCAPE, &rows);
	(void)top_state_key(&state, 'a', &rows);
	top_state_settle_alerts(&state, &later, 10);
	cr_expect(state.alert == 0 && strcmp(state.alert_rule, "new") == 0);
}

Test(top_state, a_row_can_be_explained)
{
	struct top_shown rows = with_alerts();

	(void)top_state_key(&state, SCREEN_DOWN, &rows);
	cr_expect_eq(top_state_key(&state, 'x', &rows), TOP_FETCH);
	cr_expect(state.page == TOP_EXPLAIN && strcmp(state.target, "r1") == 0 &&
		  strcmp(state.rule, "slow") == 0);
	(void)top_state_key(&state, SCREEN_ESCAPE, &rows);
	(void)top_state_key(&state, SCREEN_DOWN, &rows);
	cr_expect_eq(top_state_key(&state, 'x', &rows), TOP_FETCH);
	cr_assert(strcmp(state.target, "r2") == 0 && state.rule,
		  "as from the list, also after it is resolved");
	cr_expect_str_eq(state.rule, "slow");
	(void)top_state_key(&state, SCREEN_ESCAPE, &rows);
	rows.alerts = &(struct top_alerts){0};
	cr_expect_eq(top_state_key(&state, 'x', &rows), TOP_FETCH, "its neighbours");
	cr_expect(strcmp(state.target, "r2") == 0 && !state.rule, "it has no alert");
}

/* A more urgent alert of the cgroup does not take the place of the one that is explained. */
Test(top_state, another_x_explains_the_same_rule)
{
	const struct top_alert more[] = {
		{.state = TOP_ALERT_PENDING, .rule = (char *)"mild", .cgroup = (char *)"r1"},
		{.state = TOP_ALERT_FIRING, .rule = (char *)"urgent", .cgroup = (char *)"r1"},
	};
	struct top_alerts some = {.list = (struct top_alert *)more, .n = 1};
	struct top_shown rows = with_alerts();

	rows.alerts = &some;
	(void)top_state_key(&state, SCREEN_DOWN, &rows);
	(void)top_state_key(&state, 'x', &rows);
	cr_expect_str_eq(state.rule, "mild");
	some.n = 2;
	cr_expect_eq(top_state_key(&state, 'x', &rows), TOP_FETCH);
	cr_expect_str_eq(state.rule, "mild");
	(void)top_state_key(&state, SCREEN_ENTER, &rows);
	cr_expect_eq(state.page, TOP_CGROUP);
	(void)top_state_key(&state, 'x', &rows);
	cr_expect(state.page == TOP_EXPLAIN && strcmp(state.rule, "mild") == 0);
	(void)top_state_key(&state, SCREEN_ESCAPE, &rows);
	(void)top_state_key(&state, 'x', &rows);
	cr_expect_str_eq(state.rule, "urgent", "the table chooses again");
}

Test(top_state, a_zoom_begins_after_a_confirmation)
{
	state = (struct top_state){.own_window = -1, .now = NOW};
	cr_expect_eq(key('z'), TOP_DRAW);
	cr_expect(state.confirming && strcmp(state.target, "r0") == 0);
	cr_expect_eq(key('x'), TOP_NOTHING, "neither Enter nor Escape");
	cr_expect_eq(key(SCREEN_ESCAPE), TOP_DRAW);
	cr_expect(!state.confirming && state.page == TOP_TABLE);
	(void)key('z');
	cr_expect_eq(key(SCREEN_ENTER), TOP_ZOOM_BEGIN);
	cr_expect_eq(state.page, TOP_ZOOM);
	state.zoom_runs = true;
	cr_expect_eq(key(','), TOP_NOTHING, "zooms exist only in the present");
	cr_expect_eq(key(SCREEN_ESCAPE), TOP_ZOOM_END);
	cr_expect_eq(state.page, TOP_ZOOM, "its report stays");
	state.zoom_runs = false;
	cr_expect_eq(key(SCREEN_ESCAPE), TOP_FETCH);
	cr_expect_eq(state.page, TOP_TABLE);
	(void)key(',');
	cr_expect_eq(key('z'), TOP_DRAW);
	cr_expect(!state.confirming && state.message, "the past cannot be zoomed into");
}

static enum top_action click(size_t line, const char *sort)
{
	struct top_shown rows = with_alerts();

	return top_state_mouse(&state, SCREEN_CLICK, line, sort, &rows);
}

Test(top_state, the_mouse_selects_opens_sorts_and_scrolls)
{
	struct top_shown rows = with_alerts();

	cr_expect_eq(click(0, NULL), TOP_DRAW);
	cr_expect_eq(state.page, TOP_TABLE, "a first click marks, even a row that is marked already");
	cr_expect_eq(click(4, NULL), TOP_DRAW);
	cr_expect(state.row == 4 && strcmp(state.selected, "r4") == 0);
	cr_expect_eq(click(4, NULL), TOP_FETCH);
	cr_expect(state.page == TOP_CGROUP && strcmp(state.target, "r4") == 0);
	cr_expect_eq(click(2, NULL), TOP_NOTHING);
	cr_expect_eq(top_state_mouse(&state, SCREEN_WHEEL_DOWN, TOP_NO_LINE, NULL, &rows), TOP_DRAW);
	cr_expect_eq(state.scroll, 3);
	cr_expect_eq(top_state_mouse(&state, SCREEN_WHEEL_UP, TOP_NO_LINE, NULL, &rows), TOP_DRAW);
	cr_expect_eq(state.scroll, 0);
	(void)key(SCREEN_ESCAPE);
	cr_expect_eq(click(TOP_NO_LINE, "p99"), TOP_FETCH);
	cr_expect_str_eq(top_state_sort(&state, &all), "p99");
	cr_expect_eq(click(TOP_NO_LINE, NULL), TOP_NOTHING);
	cr_expect_eq(click(1000, NULL), TOP_NOTHING);
	/* While something is typed or asked, the mouse does nothing. */
	(void)key('z');
	cr_expect_eq(click(2, NULL), TOP_NOTHING);
	(void)key(SCREEN_ESCAPE);
	state.page = TOP_ALERTS;
	rows.rows = alerts.n;
	cr_expect_eq(top_state_mouse(&state, SCREEN_CLICK, 2, NULL, &rows), TOP_DRAW);
	cr_expect_eq(state.alert, 2);
	cr_expect_eq(top_state_mouse(&state, SCREEN_CLICK, 2, NULL, &rows), TOP_FETCH);
	cr_expect(state.page == TOP_EXPLAIN && strcmp(state.rule, "remote") == 0);
	cr_expect_eq(key('m'), TOP_MOUSE);
	cr_expect(state.no_mouse);
	cr_expect_eq(key('p'), TOP_DRAW);
	cr_expect(state.full_names);
}

Test(top_state, unknown_keys_do_nothing)
{
	static const char unknown[] =
		"bcgikloruvyABCDEFGHIJKLMNOPRTUVWXYZ0123456789!@#$%^&*()_=[]{}|;:'\"`~\t\001\004";

	for (enum top_page page = 0; page < TOP_PAGES; page++) {
		state = (struct top_state){.own_window = -1, .page = page};
		if (page == TOP_HELP)
			continue; /* any key leaves it */
		state.target = strdup("r1");
		for (const char *at = unknown; *at; at++) {
			cr_expect_eq(key((u32)*at), TOP_NOTHING, "'%c' on page %d", *at, (int)page);
			cr_expect_eq(state.page, page);
		}
		top_state_done(&state);
	}
}
