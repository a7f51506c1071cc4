// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/top/top_draw.h"
#include "formatted.h"

static const struct format_style plain = {.width = 80};

/* Draws the table with what the tests give. */
static char *drawn(const struct top_state *state, const struct top_table *table,
		   const struct top_alerts *alerts, const char *trouble, size_t rows,
		   const struct format_style *style)
{
	const struct top_data data = {
		.table = table, .alerts = alerts, .clock = "20:15:03 UTC", .trouble = trouble, .rows = rows};

	return FORMATTED(top_draw_table(out, state, &data, style));
}

static struct top_number number(double value)
{
	return (struct top_number){.known = true, .value = value};
}

static struct top_row some_row(const char *name)
{
	struct top_row row = {
		.name = (char *)name,
		.visible = (char *)name,
		.samples = number(1006),
		.share = number(32.64),
		.mean = number(402),
		.p50 = number(381),
		.p99 = {.known = true, .over = true, .value = 1906},
		.hitm = number(3.14),
		.has_sources = true,
		.groups = {[FIGURE_L3] = 10, [FIGURE_REMOTE] = 90},
		.has_trend = true,
		.trend = {.n = 8, .latency = true, .values = {NAN, 100, 100, 100, 100, 100, 300, 100}},
	};

	return row;
}

static struct top_table some_table(struct top_row *rows, size_t n)
{
	return (struct top_table){
		.event = (char *)"loads",
		.n_events = 1,
		.about = (char *)"sampled loads above 30 cycles",
		.latency = true,
		.sources = true,
		.per_second = true,
		.origin = (char *)"perf",
		.window = number(10),
		.rate = number(6969),
		.matching = n,
		.n = n,
		.rows = rows,
	};
}

Test(top_draw, a_table_fits_80_columns_without_colour)
{
	static const char *const wanted[] = {
		"\033[1mpebsd: perf\033[0m  20:15:03 UTC  6969 samples/s",
		"\033[1mloads\033[0m  window 10s  by latency  2 cgroups  sampled loads above 30 cycles",
		"SOURCES: 1 L1  F LFB  2 L2  3 L3  D local DRAM  R remote  o other",
		"\033[1m  CGROUP           SMP/S >LAT%  MEAN   P50    P99 SOURCES        HITM% TREND 10m\033[0m",
		"\033[7m> /a                1006  32.6   402   381  >1906 3RRRRRRRRRRRRR   3.1   _____#_\033[0m",
		"  /b+*                 -     -     -     -      -                    -          ",
		"\033[1mq\033[0m quit  \033[1m?\033[0m help  \033[1mEnter\033[0m open  \033[1ma\033[0m alerts  \033[1mx\033[0m why  \033[1mz\033[0m zoom  \033[1ms\033[0m sort  \033[1m/\033[0m filter  \033[1m, .\033[0m time",
	};
	struct top_row rows[] = {some_row("/a"), {.visible = (char *)"/b", .members = 2, .guest = true}};
	struct top_table table = some_table(rows, 2);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *text = drawn(&state, &table, NULL, NULL, 7, &plain);
	const char *at = text;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		size_t length = strcspn(at, "\n");
		_cleanup_free_ char *line = strndup(at, length);

		cr_expect_str_eq(line, wanted[i]);
		at += length + (at[length] == '\n');
	}
	cr_expect_str_eq(at, "");
}

Test(top_draw, a_narrow_table_keeps_the_most_important_columns)
{
	struct top_row row = some_row("/system.slice/a-name-of-some-length.service");
	struct top_table table = some_table(&row, 1);
	struct top_layout layout;

	for (size_t width = 1; width < 300; width++) {
		size_t columns = 2;

		layout = top_layout_of(&table, width, false);
		columns +=
			layout.name +
			6 * (size_t)(layout.samples + layout.share + layout.mean + layout.p50 + layout.hitm) +
			7 * (size_t)layout.p99 + layout.bar + (layout.bar > 0) + layout.trend +
			(layout.trend > 0);
		cr_expect(columns <= width || width < 18, "%zu columns of %zu", columns, width);
		cr_expect(!layout.share || layout.p99, "at %zu", width);
		cr_expect(!layout.trend || layout.bar, "at %zu", width);
	}
	layout = top_layout_of(&table, 80, false);
	cr_expect(layout.samples && layout.share && layout.mean && layout.p50 && layout.p99 && layout.hitm &&
		  layout.bar && layout.trend);
	layout = top_layout_of(&table, 200, false);
	cr_expect_eq(layout.name, strlen(row.visible));
	cr_expect_gt(layout.trend, 30);

	table.latency = false;
	layout = top_layout_of(&table, 200, false);
	cr_expect(!layout.mean && !layout.p50 && !layout.p99 && !layout.hitm, "of what has no latency");
	table.sources = false;
	cr_expect_eq(top_layout_of(&table, 200, false).bar, 0);
}

static const char *find_line(const char *text, const char *part)
{
	const char *at = strstr(text, part);

	cr_assert_not_null(at, "'%s' is not in:\n%s", part, text);
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

Test(top_draw, waiting_has_columns_and_a_summary_in_the_first_line)
{
	struct top_row row = some_row("/a");
	struct top_table table = some_table(&row, 1);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *loads = NULL, *stalls = NULL;

	row.has_trend = false;
	for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
		table.waits[which] = true;
	row.waits[SHOWN_WAIT] = number(62.5);
	row.waits[SHOWN_LOST] = number(2);
	row.waits[SHOWN_CPI] = number(0.25);
	row.waits[SHOWN_TRAFFIC] = number(1.92e9);
	(void)strcpy(table.cores_lost, "2.2 of 8 cores lost to memory");
	top_state_set_sort(&state, "cores-lost");
	loads = drawn(&state, &table, NULL, NULL, 7, &plain);
	(void)find_line(loads, "  \033[1m2.2 of 8 cores lost to memory\033[0m  6969 samples/s\n");
	(void)find_line(loads, "  P99 WAIT%>CORES SOURCES ");
	(void)find_line(loads, " >1906  62.5  2.00 3RRR");

	table.latency = table.sources = false;
	stalls = drawn(&state, &table, NULL, NULL, 7, &plain);
	(void)find_line(stalls, " WAIT%>CORES  USED   CPI  MISS   B/S");
	(void)find_line(stalls, "  62.5  2.00     -  0.25     - 1.92G");
}

Test(top_draw, the_order_and_its_mark_are_those_of_the_event)
{
	struct top_row row = some_row("/a");
	struct top_table table = some_table(&row, 1);
	struct top_state state = {.own_window = -1};

	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *text = NULL;

		top_state_set_sort(&state, i ? "share:remote_dram" : "latency");
		table.latency = table.sources = false;
		text = drawn(&state, &table, NULL, NULL, 7, &plain);
		formatted_expect(text, "  by samples  ");
		formatted_expect(text, ">SMP/S SMPL%");
	}
}

static char *first_line(const struct top_state *state, const struct top_table *table, const char *clock,
			size_t width)
{
	const struct format_style style = {.width = width};
	const struct top_data data = {.table = table, .clock = clock, .rows = 24};
	_cleanup_free_ char *text = FORMATTED(top_draw_table(out, state, &data, &style));

	return strndup(text, strcspn(text, "\n"));
}

Test(top_draw, a_narrow_screen_keeps_alerts_and_lost_cores)
{
	static const struct {
		size_t width;
		const char *line;
	} cases[] = {
		{120,
		 "\033[1mpebsd: model (no measurement)\033[0m  20:15:03 UTC  \033[1m2 alerts firing (a)\033[0m  \033[1m3.28 of 10 cores lost to memory\033[0m  6969 samples/s"},
		{80,
		 "\033[1mpebsd: model (no measurement)\033[0m  20:15:03 UTC  \033[1m2 firing (a)\033[0m  \033[1m3.28 cores lost\033[0m"},
		{60,
		 "\033[1mpebsd: model\033[0m  20:15:03 UTC  \033[1m2 firing (a)\033[0m  \033[1m3.28 cores lost\033[0m"},
		{40, "\033[1mpebsd: model\033[0m  20:15:03 UTC  \033[1m2 firing (a)\033[0m"},
	};
	struct top_table table = some_table(NULL, 0);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *past = NULL;

	table.origin = (char *)"model (no measurement)";
	table.firing = 2;
	(void)strcpy(table.cores_lost, "3.28 of 10 cores lost to memory");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *line = first_line(&state, &table, "20:15:03 UTC", cases[i].width);

		cr_expect_str_eq(line, cases[i].line, "%s", line);
	}
	state.at = 1;
	past = first_line(&state, &table, "Sat 2026-11-21 20:15:03 UTC", 50);
	formatted_expect(past, "  \033[7mPAST 20:15:03 UTC\033[0m  \033[1m2 firing (a)\033[0m");
}

Test(top_draw, columns_of_waiting_are_kept_on_the_screen)
{
	struct top_row row = some_row("/system.slice/a-name-of-some-length.service");
	struct top_table table = some_table(&row, 1);

	for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
		table.waits[which] = true;
	for (size_t width = 18; width < 300; width++)
		for (int latency = 0; latency < 2; latency++) {
			struct top_layout layout;
			size_t columns = 2;

			table.latency = latency;
			layout = top_layout_of(&table, width, false);
			columns += layout.name +
				   6 * (size_t)(layout.samples + layout.share + layout.mean + layout.p50 +
						layout.hitm) +
				   7 * (size_t)layout.p99 + layout.bar + (layout.bar > 0) + layout.trend +
				   (layout.trend > 0);
			for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
				columns += layout.waits[which] ? 1 + WAITS_WIDTH : 0;
			cr_expect_leq(columns, width);
		}
}

Test(top_draw, only_bars_are_coloured)
{
	const struct format_style coloured = {.width = 80, .colour = true};
	struct top_row rows[] = {some_row("/a"), some_row("/b")};
	struct top_table table = some_table(rows, 2);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *text = drawn(&state, &table, NULL, NULL, 9, &coloured);

	formatted_expect(text, "\033[7m> /a ");
	/* The marked row is in reverse video, but its bar keeps its colours. */
	formatted_expect(text, "  >1906\033[0m \033[44m3\033[0m\033[41mRRRRRRRRRRRRR\033[0m\033[7m   3.1");
	formatted_expect(text, "  >1906 \033[44m3\033[0m\033[41mRRRRRRRRRRRRR\033[0m   3.1");
}

Test(top_draw, errors_a_filter_and_a_freeze_are_shown)
{
	struct top_table table = some_table(NULL, 0);
	struct top_state state = {
		.own_window = -1, .frozen = true, .sums = true, .depth = 3, .filter = "x\033[2J"};
	_cleanup_free_ char *text = drawn(&state, &table, NULL, "nobody answers", 24, &plain);

	formatted_expect(text, "FROZEN at 20:15:03 UTC");
	formatted_expect(text, "nobody answers");
	formatted_expect(text, "+ sums to depth 3");
	formatted_expect(text, "filter x\\x1b[2J");
	formatted_expect(text, "no matching cgroup");
	cr_expect_null(strstr(text, "firing"));
}

/* 247 bytes in 165 columns. */
Test(top_draw, a_long_filter_is_shown_and_cut_between_characters)
{
	static const struct format_style wide = {.width = 300, .utf8 = true};
	struct top_table table = some_table(NULL, 0);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *whole = NULL, *cut = NULL;

	cr_assert_not_null(setlocale(LC_ALL, "C.UTF-8"));
	(void)strcpy(state.filter, "a");
	for (size_t i = 0; i < 82; i++)
		(void)strcat(state.filter, "語");
	whole = drawn(&state, &table, NULL, NULL, 24, &wide);
	formatted_expect(whole, state.filter);
	cut = drawn(&state, &table, NULL, NULL, 24, &plain);
	formatted_expect(cut, "filter ...語語語");
	formatted_expect(cut, "語\033[0m  0 cgroups\n");
}

/* In 80 columns. */
Test(top_draw, the_end_of_a_typed_text_is_on_the_screen)
{
	struct top_table table = some_table(NULL, 0);
	struct top_state state = {.own_window = -1, .typing = true};
	_cleanup_free_ char *text = NULL;

	(void)memset(state.typed, 'x', 100);
	(void)strcpy(state.typed + 100, "end");
	text = drawn(&state, &table, NULL, NULL, 7, &plain);
	formatted_expect(text, "filter: ...xxx");
	cr_expect_eq(strstr(text, "end_") - strstr(text, "filter: "), 76);
}

Test(top_draw, firing_alerts_are_shown)
{
	struct top_table table = some_table(NULL, 0);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *text = NULL;

	table.firing = 2;
	text = drawn(&state, &table, NULL, NULL, 24, &plain);
	formatted_expect(text, "2 alerts firing (a)");
}

static struct top_alert some_alert(enum top_alert_state state, const char *cgroup)
{
	return (struct top_alert){.state = state,
				  .mood = state == TOP_ALERT_FIRING ? LINE_BAD : LINE_WARNING,
				  .rule = (char *)"slow",
				  .cgroup = (char *)cgroup,
				  .visible_rule = (char *)"slow",
				  .visible = (char *)cgroup,
				  .path = (char *)cgroup,
				  .words = (char *)"firing",
				  .age = "12s",
				  .value = "p99 912 cycles",
				  .limit = "above 896"};
}

Test(top_draw, rows_with_alerts_are_marked_without_colour_too)
{
	static const struct format_style coloured = {.width = 80, .colour = true}, wide = {.width = 120};
	struct top_row rows[] = {some_row("/a"), some_row("/b"), some_row("/c"), some_row("/d")};
	struct top_alert list[] = {some_alert(TOP_ALERT_OTHER, "/a"), some_alert(TOP_ALERT_PENDING, "/b"),
				   some_alert(TOP_ALERT_FIRING, "/b"), some_alert(TOP_ALERT_UNKNOWN, "/c"),
				   some_alert(TOP_ALERT_PENDING, "/d")};
	const struct top_alerts alerts = {.list = list, .n = ARRAY_SIZE(list)};
	struct top_table table = some_table(rows, ARRAY_SIZE(rows));
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *text = drawn(&state, &table, &alerts, NULL, 14, &wide), *colours = NULL;

	formatted_expect(text, "Alerts: ! firing  ~ pending  ? unknown");
	formatted_expect(text, "\033[7m> /a ");
	formatted_expect(text, "\n !\033[0m/b ");
	formatted_expect(text, "\n ?\033[0m/c ");
	formatted_expect(text, "\n ~\033[0m/d ");
	formatted_expect_not(text, "explain the alert");
	/* The last line shows the next useful key for the marked row. */
	state.row = 1;
	colours = drawn(&state, &table, &alerts, NULL, 14, &coloured);
	formatted_expect(colours, "\033[7m>\033[1m\033[31m!\033[0m\033[7m/b ");
	formatted_expect(colours, "\033[33m?\033[0m\033[33m/c ");
	formatted_expect(colours, "\033[1mx\033[0m explain the alert");
}

Test(top_draw, the_pane_is_shown_if_the_screen_is_large_enough)
{
	struct top_frame frame = top_frame_of(TOP_TABLE, 80, 24, 100);

	cr_expect(frame.room == 19 && frame.width == 80 && frame.pane_lines == 0);
	frame = top_frame_of(TOP_TABLE, 80, 24, 6);
	cr_expect(frame.room == 8 && frame.pane_lines == 10, "few cgroups leave room for it");
	cr_expect_eq(top_frame_of(TOP_TABLE, 80, 16, 0).pane_lines, 0, "rows need the room");
	cr_expect_eq(top_frame_of(TOP_TABLE, 80, 24, (u64)-1).pane_lines, 0);
	frame = top_frame_of(TOP_TABLE, 120, 30, 100);
	cr_expect(frame.room == 12 && !frame.beside && frame.pane_lines == 12 && frame.pane_width == 120);
	frame = top_frame_of(TOP_TABLE, 300, 4, 100);
	cr_expect(frame.first == 2 && frame.room == 1, "a row is shown, and the keys");
	frame = top_frame_of(TOP_TABLE, 200, 50, 100);
	cr_expect(frame.room == 45 && frame.beside && frame.width == 117 && frame.pane_width == 80);
	for (size_t rows = 1; rows < 80; rows++)
		for (size_t columns = 1; columns < 260; columns++)
			for (enum top_page page = 0; page < TOP_PAGES; page++) {
				frame = top_frame_of(page, columns, rows, rows / 3);
				cr_assert(frame.room >= (rows < 12 ? 1 : 5) && frame.width >= 1 &&
					  frame.width <= columns);
				cr_assert(rows < 4 || frame.first + frame.room + 1 +
								      (frame.pane_lines && !frame.beside
									       ? frame.pane_lines + 1
									       : 0) ==
							      rows,
					  "%zu rows", rows);
			}
}

static struct top_pane some_pane(void)
{
	struct top_pane pane = {
		.cgroup = (char *)"/a",
		.visible = (char *)"a",
		.path = (char *)"/a",
		.figures = "samples 1006  mean 402",
		.latency = true,
		.has_histogram = true,
		.has_trend = true,
		.trend = {.n = 4, .latency = true, .bin_seconds = 15, .values = {NAN, 100, 50, 200}}};

	pane.fine[histogram_fine_index(40)][FIGURE_L1] = 30;
	pane.fine[histogram_fine_index(60)][FIGURE_L2] = 30;
	pane.fine[histogram_fine_index(500)][FIGURE_REMOTE] = 40;
	return pane;
}

Test(top_pane, the_pane_has_a_histogram_by_source_and_a_timeline)
{
	const struct top_pane pane = some_pane();
	const struct top_alert alert = some_alert(TOP_ALERT_FIRING, "/a");
	_cleanup_free_ char *text = FORMATTED(top_pane_draw(out, &pane, &alert, 60, 20, false, &plain));
	_cleanup_free_ char *wide = FORMATTED(top_pane_draw(out, &pane, &alert, 70, 20, false, &plain));
	_cleanup_free_ char *path = FORMATTED(top_pane_draw(out, &pane, NULL, 60, 20, true, &plain));
	size_t lines = 0;

	formatted_expect(text, "\033[1ma\033[0m\n");
	formatted_expect(text, "! firing for 12s: slow, p99 912 cycles; limit: above 896\033[0m\n");
	formatted_expect(wide,
			 "! firing for 12s: slow, p99 912 cycles; limit: above 896 (x explains)\033[0m\n");
	formatted_expect(text, "samples 1006  mean 402\n");
	formatted_expect(text, "        33 - 64  60.0% 1111111111111111111222222222222222222\n");
	formatted_expect(text, "      129 - 256   0.0% \n");
	formatted_expect(text, "      257 - 512  40.0% RRRRRRRRRRRRRRRRRRRRRRRRR\n");
	/* Two cells for each bin: nothing is known of the first one. */
	formatted_expect(text, "    200       ##\n");
	formatted_expect(text, "        -1min 0s");
	formatted_expect(path, "\033[1m/a\033[0m\n");
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	cr_expect_leq(lines, 20, "%s", text);
}

Test(top_pane, a_low_pane_has_the_highest_latencies)
{
	_cleanup_free_ char *text = NULL;
	struct top_pane pane = some_pane();

	for (u32 upper = 64; upper <= 65536; upper *= 2)
		pane.fine[histogram_fine_index(upper)][FIGURE_LOCAL] += 10;
	text = FORMATTED(top_pane_draw(out, &pane, NULL, 60, 14, false, &plain));
	formatted_expect(text, " - 65536");
	formatted_expect(text, " 33 - ");
}

Test(top_pane, the_pane_is_read_from_replies)
{
	json_object *status = formatted_from("{'events':{'loads':{'measures':['latency','source']}}}");
	json_object *cgroup = formatted_from(
		"{'cgroup':'/shop\\u001b.service','name':'shop','events':{'loads':{'samples':7,"
		"'sources':{'l1':{'samples':5,'histogram':[{'le':32,'samples':5}]},"
		"'remote_cache':{'samples':2,'histogram':[{'le':512,'samples':2}]}}}}}");
	json_object *history =
		formatted_from("{'bins':[{'since':'2026-11-21T06:00:10Z','until':'2026-11-21T06:00:20Z',"
			       "'covered_s':10,'events':{'loads':{'latency':{'mean':120.5}}}}]}");
	struct top_pane pane;

	cr_assert_eq(top_pane_read(status, cgroup, "loads", &pane), 0);
	cr_expect_str_eq(pane.visible, "shop");
	cr_expect_str_eq(pane.path, "/shop\\x1b.service");
	cr_expect_eq(pane.fine[histogram_fine_index(32)][FIGURE_L1], 5);
	cr_expect_eq(pane.fine[histogram_fine_index(512)][FIGURE_REMOTE], 2);
	cr_expect(pane.latency && !pane.has_trend && pane.octaves);
	/* The minute until 06:00:30: the stored time lies in the fifth bin. */
	top_pane_read_history(&pane, history, "loads", 6, 60, 1795240830);
	cr_expect(pane.has_trend && pane.past);
	cr_expect(isnan(pane.trend.values[3]) && isnan(pane.trend.values[5]));
	cr_expect_float_eq(pane.trend.values[4], 120.5, 1e-9);
	top_pane_done(&pane);
	cr_assert_eq(top_pane_read(status, cgroup, NULL, &pane), 0);
	cr_expect(!pane.has_histogram && !*pane.figures, "no event is sampled");
	top_pane_done(&pane);
	json_object_put(status);
	json_object_put(cgroup);
	json_object_put(history);
}

/* The histograms of sources are octaves; only that of the whole event has fine buckets. */
Test(top_pane, ranges_are_as_fine_as_the_counts)
{
	static const struct {
		const char *sources, *row;
	} cases[] = {
		{"'sources':{'l1':{'samples':5,'histogram':[{'le':64,'samples':5}]}},", "33 - 64 100.0% 1"},
		{"", "41 - 44 100.0% o"},
	};
	json_object *status = formatted_from("{'events':{'loads':{'measures':['latency','source']}}}");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = NULL, *drawn_text = NULL;
		json_object *cgroup;
		struct top_pane pane;

		cr_assert_geq(
			asprintf(
				&text,
				"{'cgroup':'/a','events':{'loads':{'samples':5,%s'histogram':[{'le':44,'samples':5}]}}}",
				cases[i].sources),
			0);
		cgroup = formatted_from(text);
		cr_assert_eq(top_pane_read(status, cgroup, "loads", &pane), 0);
		drawn_text = FORMATTED(top_pane_draw(out, &pane, NULL, 60, 50, false, &plain));
		formatted_expect(drawn_text, cases[i].row);
		top_pane_done(&pane);
		json_object_put(cgroup);
	}
	json_object_put(status);
}

Test(top_alerts, alerts_of_a_reply_are_read)
{
	json_object *reply = formatted_from(
		"{'next':3,'alerts':[{'rule':'slow','cgroup':'/a','name':'a','state':'resolved'},"
		"{'rule':'slow','cgroup':'/b','state':'unknown','held':'firing'},{'rule':'fast',"
		"'cgroup':'/b','state':'firing','metric':'p99','unit':'cycles','value':912.5,"
		"'above':896,'since':'2026-11-21T06:00:00Z'},{'state':'firing'}]}");
	_cleanup_(top_alerts_done) struct top_alerts alerts;
	const struct top_alert *alert;

	cr_assert_eq(top_alerts_read(reply, 1795240805, &alerts), 0);
	cr_expect(alerts.n == 3 && alerts.more);
	cr_expect_str_eq(alerts.list[0].visible, "a");
	cr_expect_null(top_alerts_of(&alerts, "/a"), "it is resolved");
	cr_expect_str_eq(alerts.list[1].words, "unknown (firing)");
	cr_expect_eq(top_alert_mark(&alerts.list[1]), '?');
	alert = top_alerts_of(&alerts, "/b");
	cr_assert_not_null(alert);
	cr_expect_str_eq(alert->rule, "fast", "the most urgent one");
	cr_expect_str_eq(alert->value, "p99 912.5 cycles");
	cr_expect_str_eq(alert->age, "5s");
	cr_expect_str_eq(alert->limit, "above 896 cycles");
	top_alerts_done(&alerts);
	json_object_put(reply);
	cr_assert_eq(top_alerts_read(NULL, 0, &alerts), 0);
	cr_expect(alerts.n == 0 && !alerts.more);
}

/* The reply has their states of then, and the figures of when those began. */
Test(top_alerts, alerts_of_the_past_name_their_values)
{
	json_object *reply = formatted_from(
		"{'gaps':[],'alerts':[{'rule':'slow','cgroup':'/a','state':'firing','metric':'p99',"
		"'unit':'cycles','value':912,'worst':920,'above':896,"
		"'since':'2026-11-21T06:00:00Z','breached':'2026-11-21T05:59:00Z',"
		"'fired':'2026-11-21T06:00:00Z'},{'rule':'slow','cgroup':'/b','state':'unknown',"
		"'held':'firing','unknown':'gap','since':'2026-11-21T06:00:00Z'},{'rule':'slow',"
		"'cgroup':'/c','state':'pending','metric':'p99','since':'2026-11-21T06:00:05Z'}]}");
	struct top_alerts alerts;

	cr_assert_eq(top_alerts_read(reply, 1795240827, &alerts), 0);
	cr_expect_eq(alerts.firing, 2);
	cr_expect_eq(top_alert_mark(&alerts.list[0]), '!');
	cr_expect_eq(top_alert_mark(&alerts.list[1]), '?');
	cr_expect_eq(alerts.list[0].began, 1795240800);
	cr_expect_str_eq(alerts.list[0].age, "27s");
	cr_expect_str_eq(alerts.list[0].value, "p99 first 912 cycles");
	cr_expect_str_eq(alerts.list[2].value, "p99 -");
	top_alerts_done(&alerts);
	json_object_put(reply);
}

Test(top_alerts, resolved_alerts_have_start_length_and_worst_value)
{
	json_object *reply = formatted_from(
		"{'alerts':[{'rule':'old','cgroup':'/a','state':'resolved','metric':'p99',"
		"'unit':'cycles','value':600,'worst':1453,'since':'2026-11-21T06:01:40Z',"
		"'fired':'2026-11-21T06:00:00Z','resolved':'2026-11-21T06:01:40Z'},{'rule':'new',"
		"'cgroup':'/a','state':'resolved','metric':'p99','value':600,"
		"'since':'2026-11-21T06:06:00Z','fired':'2026-11-21T06:05:00Z',"
		"'resolved':'2026-11-21T06:06:00Z'},{'rule':'other','cgroup':'/b',"
		"'state':'pending','since':'2026-11-21T06:00:00Z'}]}");
	struct top_alerts alerts;

	cr_assert_eq(top_alerts_read(reply, 1795244400, &alerts), 0);
	cr_expect_eq(alerts.list[0].began, 1795240800);
	cr_expect_str_eq(alerts.list[0].age, "1min 40s", "not since its end");
	cr_expect_str_eq(alerts.list[0].value, "p99 worst 1,453 cycles");
	cr_expect_str_eq(alerts.list[1].value, "p99 -", "the last value is not the worst one");
	cr_expect_null(top_alerts_of(&alerts, "/a"));
	cr_expect_str_eq(top_alerts_last_of(&alerts, "/a", NULL)->rule, "new");
	cr_expect_str_eq(top_alerts_last_of(&alerts, "/b", NULL)->rule, "other");
	cr_expect_str_eq(top_alerts_last_of(&alerts, "/a", "old")->rule, "old");
	cr_expect_null(top_alerts_last_of(&alerts, "/c", NULL));
	top_alerts_done(&alerts);
	json_object_put(reply);
}

Test(top_alerts, a_long_list_is_bounded)
{
	json_object *reply = json_object_new_object(), *list = json_object_new_array();
	struct top_alerts alerts;

	for (int i = 0; i < TOP_ALERTS_MAX + 5; i++)
		json_object_array_add(list, formatted_from("{'rule':'r','cgroup':'/a','state':'firing'}"));
	json_object_object_add(reply, "alerts", list);
	cr_assert_eq(top_alerts_read(reply, 0, &alerts), 0);
	cr_expect(alerts.n == TOP_ALERTS_MAX && alerts.more);
	top_alerts_done(&alerts);
	json_object_put(reply);
}

Test(top_draw, alerts_are_listed_with_a_selection)
{
	struct top_alert list[] = {some_alert(TOP_ALERT_FIRING, "/a"), some_alert(TOP_ALERT_PENDING, "/b")};
	const struct top_alerts alerts = {.list = list, .n = ARRAY_SIZE(list)};
	const struct top_data data = {.alerts = &alerts, .clock = "20:15:03 UTC", .rows = 10};
	struct top_state state = {.page = TOP_ALERTS, .alert = 1};
	_cleanup_free_ char *text = FORMATTED(top_draw_alerts(out, &state, &data, &plain));

	formatted_expect(text, "1 firing, 1 pending, 0 unknown, 0 resolved in the last hour\n");
	formatted_expect(text, " !\033[0mfiring  12s     slow  p99 912 cycles  above 896  /a ");
	formatted_expect(text, "\033[7m>~\033[0m\033[7mfiring  12s     slow");
	formatted_expect(text, "\033[1mEnter\033[0m explain");
}

Test(top_draw, a_narrow_list_of_alerts_keeps_the_values)
{
	struct top_alert list[] = {some_alert(TOP_ALERT_UNKNOWN, "database")};
	const struct top_alerts alerts = {.list = list, .n = ARRAY_SIZE(list)};
	const struct top_data data = {.alerts = &alerts, .clock = "20:15:03 UTC", .rows = 10};
	const struct top_state state = {.page = TOP_ALERTS};

	list[0].words = (char *)"unknown (firing)";
	list[0].visible_rule = (char *)"database-latency";
	(void)strcpy(list[0].value, "cores-lost 0.5252 cores");
	(void)strcpy(list[0].limit, "above 2 cores");
	for (size_t width = 20; width < 120; width++) {
		const struct format_style style = {.width = width};
		_cleanup_free_ char *text = FORMATTED(top_draw_alerts(out, &state, &data, &style));

		cr_expect_eq(strstr(text, " cores-lost 0.5252 cores ") != NULL, width >= 75, "%zu", width);
		cr_expect_eq(strstr(text, " above 2 cores ") != NULL, width >= 94, "%zu", width);
	}
}

Test(top_draw, the_last_line_has_the_keys_of_its_page)
{
	static const struct {
		enum top_page page;
		bool past;
		const char *keys;
	} cases[] = {
		{TOP_CGROUP, false, " q quit  ? help  Esc back  Up Down scroll  x why  z zoom  "},
		{TOP_EXPLAIN, false, " q quit  ? help  Esc back  Up Down scroll  Enter open the cgroup"},
		{TOP_CGROUP, true,
		 " q quit  ? help  n now  Esc back  Up Down scroll  x why  , . back, forward  "},
		{TOP_ALERTS, true, " q quit  ? help  n now  Enter explain  Esc back  , . back, forward  "},
		{TOP_EXPLAIN, true,
		 " q quit  ? help  n now  Esc back  Up Down scroll  Enter open the cgroup  "},
		{TOP_TABLE, true, " q quit  ? help  n now  Enter open  a alerts  x why  , . back, forward  "},
	};
	const struct top_table table = some_table(NULL, 0);
	const struct top_data data = {.table = &table, .clock = "20:15:03 UTC", .rows = 24};
	const struct top_alerts none = {0};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct top_state state = {
			.page = cases[i].page, .at = cases[i].past, .target = (char *)"/a", .own_window = -1};
		struct top_data shown = data;
		_cleanup_free_ char *text = NULL, *last = NULL;
		size_t n = 1;

		shown.alerts = &none;
		text = cases[i].page == TOP_TABLE ? FORMATTED(top_draw_table(out, &state, &shown, &plain))
		       : cases[i].page == TOP_ALERTS
			       ? FORMATTED(top_draw_alerts(out, &state, &shown, &plain))
			       : FORMATTED(top_draw_page(out, &state, &shown, "text\n", &plain));
		/* Without the marks. */
		last = calloc(1, strlen(text) + 2);
		last[0] = ' ';
		for (const char *at = strrchr(text, '\n') + 1; *at; at++)
			if (*at == '\033')
				at = strchr(at, 'm');
			else
				last[n++] = *at;
		(void)strcat(last, "  ");
		formatted_expect(last, cases[i].keys);
	}
}

Test(top_draw, on_80_columns_the_selected_alert_has_its_limit_and_its_start)
{
	struct top_alert list[] = {some_alert(TOP_ALERT_FIRING, "/a"), some_alert(TOP_ALERT_OTHER, "/b")};
	const struct top_alerts alerts = {.list = list, .n = ARRAY_SIZE(list)};
	const struct top_data data = {.alerts = &alerts, .clock = "20:15:03 UTC", .rows = 10};
	const struct format_style narrow = {.width = 80};
	struct top_state state = {.page = TOP_ALERTS, .alert = 1, .at = 1795244400};
	_cleanup_free_ char *text = NULL;

	list[1].began = 1795240800;
	(void)snprintf(list[1].value, sizeof(list[1].value), "p99 worst 1,453 cycles");
	(void)snprintf(list[1].limit, sizeof(list[1].limit), "above 896 cycles");
	text = FORMATTED(top_draw_alerts(out, &state, &data, &narrow));
	formatted_expect(
		text, "1 firing, 0 pending, 0 unknown, 1 ended in the hour before\n"
		      "p99 worst 1,453 cycles; limit: above 896 cycles; began Sat 2026-11-21 06:00:00 U\n");
	formatted_expect(text, "STATE   LASTED");
	formatted_expect(text, "p99 worst 1,453 cycles");
}

Test(top_draw, the_head_of_a_page_stays_when_it_scrolls)
{
	const struct top_pane pane = some_pane();
	const struct top_data data = {.pane = &pane, .clock = "20:15:03 UTC", .rows = 16};
	struct top_state state = {.page = TOP_CGROUP, .scroll = 3, .target = (char *)"/a"};
	const char *body = "b1\nb2\nb3\nb4\nb5\nb6\nb7\nb8\nb9\nb10\nb11\nb12\nb13\nb14\nb15\n";
	_cleanup_free_ char *text = FORMATTED(top_draw_page(out, &state, &data, body, &plain));

	formatted_expect(text, "lines 4-14 of 15");
	formatted_expect(text, "\033[1ma\033[0m\nsamples 1006  mean 402\nno alert\nb4\nb5\n");
	formatted_expect(text, "b14\n\033[1mq\033[0m quit");
}

/* The page of a resolved alert does not say that its cgroup has none. */
Test(top_draw, the_head_of_an_explanation_has_the_explained_alert)
{
	const struct top_pane pane = some_pane();
	struct top_alert list[] = {some_alert(TOP_ALERT_OTHER, "/a")};
	const struct top_alerts alerts = {.list = list, .n = ARRAY_SIZE(list)};
	const struct top_data data = {.pane = &pane, .alerts = &alerts, .clock = "20:15:03 UTC", .rows = 16};
	struct top_state state = {.page = TOP_EXPLAIN, .target = (char *)"/a", .rule = (char *)"slow"};
	_cleanup_free_ char *text = NULL, *cgroup = NULL;

	list[0].words = (char *)"resolved";
	text = FORMATTED(top_draw_page(out, &state, &data, "body\n", &plain));
	formatted_expect(text, "resolved after 12s: slow, p99 912 cycles; limit: above 896");
	state.page = TOP_CGROUP;
	cgroup = FORMATTED(top_draw_page(out, &state, &data, "body\n", &plain));
	formatted_expect(cgroup, "\nno alert\n");
}

Test(top_draw, a_click_on_a_heading_sorts_by_its_column)
{
	struct top_row row = some_row("/a");
	struct top_table table = some_table(&row, 1);
	const struct top_layout layout = top_layout_of(&table, 80, false);

	cr_expect_null(top_draw_sort_at(&layout, 5));
	cr_expect_str_eq(top_draw_sort_at(&layout, 2 + layout.name), "samples");
	cr_expect_str_eq(top_draw_sort_at(&layout, 2 + layout.name + 11), "latency");
	cr_expect_str_eq(top_draw_sort_at(&layout, 2 + layout.name + 12), "mean");
	cr_expect_null(top_draw_sort_at(&layout, 2 + layout.name + 18), "P50 is not an order");
	cr_expect_str_eq(top_draw_sort_at(&layout, 2 + layout.name + 30), "p99");
	cr_expect_str_eq(top_draw_sort_at(&layout, 2 + layout.name + 35), "share:remote_dram");
	cr_expect_null(top_draw_sort_at(&layout, 79));
}

Test(top_draw, full_names_are_paths)
{
	struct top_row row = some_row("shop");
	struct top_table table = some_table(&row, 1);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *names = NULL, *paths = NULL;

	row.path = (char *)"/kubepods/shop";
	names = drawn(&state, &table, NULL, NULL, 7, &plain);
	state.full_names = true;
	paths = drawn(&state, &table, NULL, NULL, 7, &plain);
	formatted_expect(names, "> shop ");
	formatted_expect(paths, "> /kubepods/shop ");
}

Test(top_draw, a_replaceable_text_is_shown_reversed)
{
	const struct top_table table = some_table(NULL, 0);
	struct top_state state = {.own_window = -1, .typing = true, .typed_before = true, .typed = "web"};
	_cleanup_free_ char *before = drawn(&state, &table, NULL, NULL, 7, &plain), *typed = NULL;

	formatted_expect(before, "\033[1mfilter: \033[7mweb\033[0m  Enter: apply");
	state.typed_before = false;
	typed = drawn(&state, &table, NULL, NULL, 7, &plain);
	formatted_expect(typed, "\033[1mfilter: web_\033[0m  Enter: apply");
}

Test(top_draw, the_help_explains_each_use_of_a_question_mark)
{
	formatted_expect(top_help(), "\n  h, ?  ");
	formatted_expect(top_help(),
			 "\n  ! ~ ?   left of a name: an alert fires, is pending, or cannot be judged now\n");
	formatted_expect(top_help(),
			 "\n  ?       right of a figure: few samples for a quantile, or bounds of");
	formatted_expect_fit(top_help(), 80);
}

static char *line_of(const double *values, size_t n, size_t cells, bool utf8)
{
	struct trend_line line = {.n = n, .latency = true};

	memcpy(line.values, values, n * sizeof(*values));
	return FORMATTED(trend_line_put(out, &line, cells, utf8));
}

Test(trend_line, noise_is_not_a_trend)
{
	static const double noise[] = {100, 104, 97, 101}, step[] = {100, NAN, 200, 200}, none[] = {NAN, NAN};
	_cleanup_free_ char *flat = line_of(noise, 4, 6, false), *risen = line_of(step, 4, 4, true),
			    *last = line_of(step, 4, 2, false), *empty = line_of(none, 2, 3, false);

	cr_expect_str_eq(flat, "  ~=~=", "%s", flat);
	cr_expect_str_eq(risen, "▁ ██", "%s", risen);
	cr_expect_str_eq(last, "##", "%s", last);
	cr_expect_str_eq(empty, "   ");
}

Test(trend_line, a_trend_is_read_from_a_reply)
{
	json_object *event =
		formatted_from("{'trend':{'bin_s':2,'samples':[null,3,4,0,2],'mean':[null,30.5,30.7,null,"
			       "31]}}");
	struct trend_line line;
	double low, high;

	cr_assert(trend_line_read(event, true, &line));
	cr_expect(isnan(line.values[0]) && line.values[1] == 30.5 && isnan(line.values[3]));
	cr_expect(trend_line_bounds(&line, &low, &high) && low == 30.5 && high == 31);
	cr_assert(trend_line_read(event, false, &line));
	cr_expect(isnan(line.values[1]), "sampling began in it");
	cr_expect(line.values[2] == 2 && line.values[3] == 0, "samples a second");
	cr_expect(isnan(line.values[4]), "not yet all there");
	json_object_put(event);
	event = formatted_from("{'trend':{'bin_s':2,'samples':[4,0,2],'mean':[1,1,1]}}");
	cr_assert(trend_line_read(event, false, &line));
	cr_expect(line.values[0] == 2, "the trend is older than its first cell");
	json_object_put(event);
	event = formatted_from("{'trend':{'bin_s':4,'samples':[20,40.0,null,8.5],'mean':[1,1,null,1],"
			       "'covered_s':[2,4,0,0.85]}}");
	cr_assert(trend_line_read(event, false, &line));
	cr_expect(line.past && line.values[0] == 10 && line.values[1] == 10 && isnan(line.values[2]));
	cr_expect_float_eq(line.values[3], 10, 1e-9,
			   "a past is complete, and only a part of it was collected");
	json_object_put(event);
	event = formatted_from("{'trend':{'bin_s':0,'samples':[],'mean':[1]}}");
	cr_expect_not(trend_line_read(event, true, &line));
	json_object_put(event);
}
