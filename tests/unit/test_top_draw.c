// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/top/top_draw.h"
#include "formatted.h"

static const struct format_style plain = {.width = 80};

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

Test(top_draw, a_table_in_80_columns_without_colour)
{
	static const char *const wanted[] = {
		"\033[1mpebsd: perf\033[0m  20:15:03 UTC  6969 samples/s",
		"\033[1mloads\033[0m  window 10s  by latency  2 cgroups  sampled loads above 30 cycles",
		"SOURCES: 1 L1  F LFB  2 L2  3 L3  D local DRAM  R remote  o other",
		"\033[1m CGROUP           SMP/S >LAT%  MEAN   P50    P99 SOURCES         HITM% TREND "
		"1h \033[0m",
		"\033[7m>/a                1006  32.6   402   381  >1906 33RRRRRRRRRRRRR   3.1  "
		" _____#_\033[0m",
		" /b+*                 -     -     -     -      -                     -          ",
		"q quit  h help  Enter open  s sort  / filter  d sums  w window  space freeze",
	};
	struct top_row rows[] = {some_row("/a"), {.visible = (char *)"/b", .members = 2, .guest = true}};
	struct top_table table = some_table(rows, 2);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *text =
		FORMATTED(top_draw_table(out, &state, &table, "20:15:03 UTC", NULL, 7, &plain));
	const char *at = text;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		size_t length = strcspn(at, "\n");
		_cleanup_free_ char *line = strndup(at, length);

		cr_expect_str_eq(line, wanted[i]);
		at += length + (at[length] == '\n');
	}
	cr_expect_str_eq(at, "");
}

Test(top_draw, what_is_most_telling_stays_where_it_is_narrow)
{
	struct top_row row = some_row("/system.slice/a-name-of-some-length.service");
	struct top_table table = some_table(&row, 1);
	struct top_layout layout;

	for (size_t width = 1; width < 300; width++) {
		size_t columns = 1;

		layout = top_layout_of(&table, width);
		columns +=
			layout.name +
			6 * (size_t)(layout.samples + layout.share + layout.mean + layout.p50 + layout.hitm) +
			7 * (size_t)layout.p99 + layout.bar + (layout.bar > 0) + layout.trend +
			(layout.trend > 0);
		cr_expect(columns <= width || width < 17, "%zu columns of %zu", columns, width);
		cr_expect(!layout.share || layout.p99, "at %zu", width);
		cr_expect(!layout.trend || layout.bar, "at %zu", width);
	}
	layout = top_layout_of(&table, 80);
	cr_expect(layout.samples && layout.share && layout.mean && layout.p50 && layout.p99 && layout.hitm &&
		  layout.bar && layout.trend);
	layout = top_layout_of(&table, 200);
	cr_expect_eq(layout.name, strlen(row.visible));
	cr_expect_gt(layout.trend, 30);

	table.latency = false;
	layout = top_layout_of(&table, 200);
	cr_expect(!layout.mean && !layout.p50 && !layout.p99 && !layout.hitm, "of what has no latency");
	table.sources = false;
	cr_expect_eq(top_layout_of(&table, 200).bar, 0);
}

static const char *find_line(const char *text, const char *part)
{
	const char *at = strstr(text, part);

	cr_assert_not_null(at, "'%s' is not in:\n%s", part, text);
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

Test(top_draw, waiting_has_columns_and_a_part_of_the_first_line)
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
	loads = FORMATTED(top_draw_table(out, &state, &table, "20:15:03 UTC", NULL, 7, &plain));
	(void)find_line(loads, "  \033[1m2.2 of 8 cores lost to memory\033[0m  6969 samples/s\n");
	(void)find_line(loads, "  P99 WAIT%>CORES SOURCES ");
	(void)find_line(loads, " >1906  62.5  2.00 3RRR");

	table.latency = table.sources = false;
	stalls = FORMATTED(top_draw_table(out, &state, &table, "20:15:03 UTC", NULL, 7, &plain));
	(void)find_line(stalls, " WAIT%>CORES  USED   CPI  MISS   B/S");
	(void)find_line(stalls, "  62.5  2.00     -  0.25     - 1.92G");
}

Test(top_draw, waiting_stays_on_the_screen)
{
	struct top_row row = some_row("/system.slice/a-name-of-some-length.service");
	struct top_table table = some_table(&row, 1);

	for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
		table.waits[which] = true;
	for (size_t width = 17; width < 300; width++)
		for (int latency = 0; latency < 2; latency++) {
			struct top_layout layout;
			size_t columns = 1;

			table.latency = latency;
			layout = top_layout_of(&table, width);
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

Test(top_draw, colours_are_of_bars_and_nothing_else)
{
	const struct format_style coloured = {.width = 80, .colour = true};
	struct top_row rows[] = {some_row("/a"), some_row("/b")};
	struct top_table table = some_table(rows, 2);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *text =
		FORMATTED(top_draw_table(out, &state, &table, "20:15:03 UTC", NULL, 9, &coloured));

	formatted_expect(text, "\033[7m>/a ");
	formatted_expect(text, "  >1906 33RRRRRRRRRRRRR "); /* the marked row, in reverse video */
	formatted_expect(text, "  >1906 \033[44m33\033[0m\033[41mRRRRRRRRRRRRR\033[0m ");
}

Test(top_draw, trouble_a_filter_and_a_freeze_are_told)
{
	struct top_table table = some_table(NULL, 0);
	struct top_state state = {
		.own_window = -1, .frozen = true, .sums = true, .depth = 3, .filter = "x\033[2J"};
	_cleanup_free_ char *text =
		FORMATTED(top_draw_table(out, &state, &table, "20:15:03 UTC", "nobody answers", 24, &plain));

	formatted_expect(text, "FROZEN at 20:15:03 UTC");
	formatted_expect(text, "nobody answers");
	formatted_expect(text, "+ sums to depth 3");
	formatted_expect(text, "filter x\\x1b[2J");
	formatted_expect(text, "no matching cgroup");
	cr_expect_null(strstr(text, "alert"));
}

Test(top_draw, alerts_that_fire_are_told)
{
	struct top_table table = some_table(NULL, 0);
	struct top_state state = {.own_window = -1};
	_cleanup_free_ char *text = NULL;

	table.firing = 2;
	text = FORMATTED(top_draw_table(out, &state, &table, "20:15:03 UTC", NULL, 24, &plain));
	formatted_expect(text, "2 alerts");
}

static char *line_of(const double *values, size_t n, size_t cells, bool utf8)
{
	struct trend_line line = {.n = n, .latency = true};

	memcpy(line.values, values, n * sizeof(*values));
	return FORMATTED(trend_line_put(out, &line, cells, utf8));
}

Test(trend_line, noise_is_no_trend)
{
	static const double noise[] = {100, 104, 97, 101}, step[] = {100, NAN, 200, 200}, none[] = {NAN, NAN};
	_cleanup_free_ char *flat = line_of(noise, 4, 6, false), *risen = line_of(step, 4, 4, true),
			    *last = line_of(step, 4, 2, false), *empty = line_of(none, 2, 3, false);

	cr_expect_str_eq(flat, "  ~=~=", "%s", flat);
	cr_expect_str_eq(risen, "▁ ██", "%s", risen);
	cr_expect_str_eq(last, "##", "%s", last);
	cr_expect_str_eq(empty, "   ");
}

Test(trend_line, of_a_reply)
{
	json_object *event = formatted_from("{\"trend\":{\"bin_s\":2,\"samples\":[null,3,4,0,2],"
					    "\"mean\":[null,30.5,30.7,null,31]}}");
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
	event = formatted_from("{\"trend\":{\"bin_s\":2,\"samples\":[4,0,2],\"mean\":[1,1,1]}}");
	cr_assert(trend_line_read(event, false, &line));
	cr_expect(line.values[0] == 2, "the trend is older than its first cell");
	json_object_put(event);
	event = formatted_from("{\"trend\":{\"bin_s\":0,\"samples\":[],\"mean\":[1]}}");
	cr_expect_not(trend_line_read(event, true, &line));
	json_object_put(event);
}
