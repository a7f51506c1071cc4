// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/format.h"
#include "format/format_past.h"
#include "formatted.h"

/* Europe/Berlin, without a data base of zones. */
static struct tm *berlin(const time_t *time, struct tm *ret)
{
	if (setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1) < 0)
		return NULL;
	tzset();
	return localtime_r(time, ret);
}

static void set_locale(void)
{
	cr_assert_not_null(setlocale(LC_ALL, "C.UTF-8"));
}

TestSuite(format_past, .init = set_locale);

static const struct format_style narrow = {.width = 80, .utf8 = true, .zone = berlin};
static const struct format_style utc = {0};

Test(format_past, ranges_are_in_local_time_with_the_zone)
{
	char text[PAST_RANGE_MAX];

	format_range("2026-11-27T02:11:50Z", "2026-11-27T02:12:00Z", &narrow, text);
	cr_expect_str_eq(text, "Fri 2026-11-27 03:11:50 - 03:12:00 CET");
	format_range("2026-11-26T22:55:00Z", "2026-11-26T23:05:00Z", &narrow, text);
	cr_expect_str_eq(text, "Thu 2026-11-26 23:55:00 - Fri 2026-11-27 00:05:00 CET");
	/* Clocks go back at 01:00 UTC. */
	format_range("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", &narrow, text);
	cr_expect_str_eq(text, "Sun 2026-10-25 02:30:00 CEST - 02:30:00 CET");
	format_range("2026-11-27T02:11:50Z", "2026-11-27T02:12:00Z", &utc, text);
	cr_expect_str_eq(text, "Fri 2026-11-27 02:11:50 - 02:12:00 UTC");
	format_range("tomorrow", NULL, &utc, text);
	cr_expect_str_eq(text, "an unknown time");
}

#define GAP  "{'since':'2026-11-27T02:11:00Z','until':'2026-11-27T02:11:50Z'}"
#define HEAD "'origin':'perf','since':'2026-11-27T02:10:00Z','taken':'2026-11-27T02:20:00Z','window_s':550"

Test(format_past, gaps_and_notes_are_shown)
{
	_cleanup_json_ json_object *reply =
		formatted_from("{" HEAD ",'more_gaps':7,'gaps':[" GAP "," GAP "," GAP "," GAP "," GAP "," GAP
			       "],'notes':['stores were not sampled before 03:15']}");
	_cleanup_json_ json_object *present = formatted_from("{" HEAD ",'notes':['x']}");
	_cleanup_free_ char *text = FORMATTED(format_past(out, &narrow, reply));
	_cleanup_free_ char *nothing = FORMATTED(format_past(out, &narrow, present));

	formatted_expect(text, "       Time: Fri 2026-11-27 03:10:00 - 03:20:00 CET (9min 10s)\n");
	formatted_expect(text,
			 "        Gap: Fri 2026-11-27 03:11:00 - 03:11:50 CET: nothing is stored for this\n"
			 "             time\n");
	formatted_expect(text, "        Gap: 8 more\n");
	formatted_expect(text, "       Note: stores were not sampled before 03:15\n");
	formatted_expect_fit(text, 80);
	cr_expect_str_eq(nothing, "");
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

Test(format_past, verbs_say_that_figures_are_of_the_past)
{
	_cleanup_json_ json_object *status =
		formatted_from("{" HEAD ",'gaps':[],'notes':['one'],'events':{}}");
	_cleanup_json_ json_object *alerts = formatted_from("{" HEAD ",'gaps':[],'alerts':[]}");
	_cleanup_json_ json_object *top = formatted_from("{" HEAD ",'gaps':[],'cgroups':[]}");
	_cleanup_free_ char *of_status = FORMATTED(format_status(out, status, NULL, &narrow));
	_cleanup_free_ char *of_alerts = FORMATTED(format_alerts(out, NULL, alerts, 0, &narrow));
	_cleanup_free_ char *of_top = FORMATTED(format_top(out, status, top, &narrow));

	formatted_expect(of_status, "from the history\n       Time: Fri 2026-11-27 03:10:00 - 03:20:00 CET");
	cr_expect_eq(count(of_status, "Note: one"), 1U);
	formatted_expect(of_alerts, "from the history");
	formatted_expect(of_alerts, "Alerts: none was firing or pending in this time");
	formatted_expect(of_top, "from the history");
}

Test(format_past, status_says_how_far_the_history_reaches)
{
	_cleanup_json_ json_object *status =
		formatted_from("{'origin':'perf','history':{'on':true,'bytes':1048576,'bytes_max':268435456,"
			       "'oldest':'2026-11-21T06:00:00Z','panes_lost':3,"
			       "'trouble':'cannot write /var/lib/pebsd: no space'}}");
	_cleanup_json_ json_object *off =
		formatted_from("{'origin':'perf','history':{'on':false,'off_reason':'no directory'}}");
	_cleanup_json_ json_object *fresh =
		formatted_from("{'origin':'perf','history':{'on':true,'panes_lost':1}}");
	_cleanup_free_ char *text = FORMATTED(format_status(out, status, NULL, &narrow));
	_cleanup_free_ char *of_off = FORMATTED(format_status(out, off, NULL, &narrow));
	_cleanup_free_ char *of_fresh = FORMATTED(format_status(out, fresh, NULL, &narrow));

	formatted_expect(text,
			 "    History: since Sat 2026-11-21 07:00:00 CET, 1.0 MiB of at most 256.0 MiB\n"
			 "             3 panes of 10 s were not stored\n"
			 "             cannot write /var/lib/pebsd: no space\n");
	formatted_expect(of_off, "    History: none: no directory\n");
	formatted_expect(of_fresh, "    History: nothing stored yet\n"
				   "             1 pane of 10 s was not stored\n");
}

#define FIGURE(a, b, more) "{'a':" a ",'b':" b more "}"
#define COMPARED                                                                                                                                                                                                                                                                   \
	"{'origin':'perf','confidence':0.95,'comparisons':7,'a':{'cgroup':'/shop/checkout',"                                                                                                                                                                                       \
	"'since':'2026-11-27T01:00:00Z','taken':'2026-11-27T01:10:00Z','window_s':590,'gaps':[" GAP                                                                                                                                                                                \
	"]},'b':{'cgroup':'/shop/checkout','since':'2026-11-27T02:00:00Z',"                                                                                                                                                                                                        \
	"'taken':'2026-11-27T02:10:00Z','window_s':600},'events':{'loads':{'ldlat':30,"                                                                                                                                                                                            \
	"'samples_a':12345,'samples_b':13000,'latency':{'p50':" FIGURE("80.2", "80.6", ",'difference':0.005,'low':-0.08,'high':0.09,'verdict':'not_proven'") ",'p99':" FIGURE("600", "708", ",'difference':0.18,'low':0.1109,'high':0.2551,'verdict':'proven'") ",'mean':" FIGURE( \
		"90", "99",                                                                                                                                                                                                                                                        \
		",'difference':0.1,'verdict':'no_bounds'") "},'histogram':[{'le':128,'a':11000,'b':10000},{'le':1024,'a':1345,'b':2990},"                                                                                                                                          \
							   "{'le':4294967295,'a':0,'b':10}],'sources':{'local_dram':" FIGURE("0.1", "0.152", ",'difference':0.052,'low':0.0311,'high':0.0732,'verdict':'proven'") "},'hitm':" FIGURE(                                              \
								   "0", "0.01",                                                                                                                                                                                                    \
								   ",'difference':0.01,'low':0.004,'verdict':'proven'") "}},'waits':{'wait':" FIGURE("0.4",                                                                                                                        \
																		     "0.3",                                                                                                                        \
																		     ",'difference':-0.1,'low':-0.131,'high':-0.0712,'verdict':'proven'") ",'traffic':{'a':1000000,'verdict':'no_value'}},"        \
																											  "'notes':['stores is not compared: one side has another latency threshold (ldlat)']}"

/* Bounds are rounded outwards: 11.09 to 25.51 % becomes 11 to 26 %. */
Test(format_past, a_comparison_fits_80_columns)
{
	_cleanup_json_ json_object *reply = formatted_from(COMPARED);
	_cleanup_free_ char *text = FORMATTED(format_compare(out, reply, &narrow));

	cr_expect_str_eq(
		text, "          A: /shop/checkout\n"
		      "             Fri 2026-11-27 02:00:00 - 02:10:00 CET (9min 50s), in whole panes\n"
		      "             of the history\n"
		      "             1 gap in this time, for which nothing is stored\n"
		      "          B: /shop/checkout\n"
		      "             Fri 2026-11-27 03:00:00 - 03:10:00 CET (10min 0s)\n"
		      "    Verdict: 4 of 7 figures differ, proven with 95% confidence; some have no\n"
		      "             bounds\n"
		      "       Note: stores is not compared: one side has another latency threshold\n"
		      "             (ldlat)\n"
		      "\n"
		      "      Event: loads above 30 cycles: 12,345 samples in A, 13,000 in B; latencies\n"
		      "             in core cycles\n"
		      "\n"
		      "LATENCY                     A          B  DIFFERENCE  BOUNDS (95%)\n"
		      "p50                        80         81       +0.5%  no difference proven\n"
		      "p99                       600        708        +18%  +11 to +26%\n"
		      "mean                       90         99        +10%  no bounds\n"
		      "local_dram              10.0%      15.2%    +5.2 pts  +3.1 to +7.4 points\n"
		      "HITM                     0.0%       1.0%    +1.0 pts  +0.4 points or more\n"
		      "\n"
		      "     CYCLES  A                                B\n"
		      "up to   128  89.1% ████████████████████████  76.9% ████████████████████▊\n"
		      "up to  1024  10.9% ██▉                       23.0% ██████▎\n"
		      "       more   0.0%                            0.1% ▏\n"
		      "\n"
		      "WAITING                     A          B  DIFFERENCE  BOUNDS (95%)\n"
		      "wait                    40.0%      30.0%   -10.0 pts  -13.1 to -7.1 points\n"
		      "traffic              1.00MB/s          -           -  not measured on both\n"
		      "\n"
		      "DIFFERENCE is B compared with A. All bounds hold together with 95% confidence:\n"
		      "of two sides that do not differ, at most 5 in 100 screens show a difference as\n"
		      "proven.\n"
		      "no bounds: a side has too few samples or collections, or its samples came in too\n"
		      "few bursts, or in phases longer than a tenth of the time. Compare a longer time.\n");
	formatted_expect_fit(text, 80);
}

/* Expects that a comparison of this figure alone is written with this text. */
static void expect_compared(const char *figure, const char *expected)
{
	_cleanup_json_ json_object *reply = formatted_from("{'confidence':0.95,'comparisons':1}");
	json_object *of = json_object_new_object();
	_cleanup_free_ char *text = NULL;

	(void)json_object_object_add(of, "misses_per_thousand", formatted_from(figure));
	(void)json_object_object_add(reply, "waits", of);
	text = FORMATTED(format_compare(out, reply, &narrow));
	formatted_expect(text, expected);
}

/* Both sides may differ, although no difference is proven. */
Test(format_past, the_summary_of_a_comparison_never_says_that_both_sides_are_equal)
{
	expect_compared(FIGURE("1", "2", ",'difference':1,'low':0.5,'high':1.5,'verdict':'proven'"),
			"    Verdict: 1 of 1 figure differs, proven with 95% confidence\n");
	expect_compared(FIGURE("1", "2", ",'difference':1,'low':-0.5,'high':2.5,'verdict':'not_proven'"),
			"    Verdict: of 1 figure, none is proven to differ with 95% confidence\n");
	expect_compared(FIGURE("1", "2", ",'difference':1,'verdict':'no_bounds'"),
			"    Verdict: nothing is proven: no figure has bounds\n");
}

/* On a screen that is too narrow for them, the bars of both sides are one cell each. */
Test(format_past, the_histograms_of_a_comparison_become_narrower)
{
	static const struct {
		size_t width;
		const char *line;
	} cases[] = {{1, "\nup to   128 100.0% █ 100.0% █\n"},
		     {27, "\nup to   128 100.0% █ 100.0% █\n"},
		     {30, "\nup to   128 100.0% █ 100.0% █\n"},
		     {40, "\nup to   128 100.0% ██████ 100.0% ██████\n"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct format_style style = {.width = cases[i].width, .utf8 = true};
		_cleanup_json_ json_object *reply = formatted_from(
			"{'events':{'loads':{'histogram':[{'le':128,'a':5,'b':5},{'a':0,'b':0}]}}}");
		_cleanup_free_ char *text = FORMATTED(format_compare(out, reply, &style));

		formatted_expect(text, cases[i].line);
		formatted_expect(text, "\nup to     -   0.0%");
	}
}

/* Bounds of multiples are rounded outwards, too: 1,354 to 20,011 times. */
Test(format_past, large_differences_are_multiples_without_a_unit)
{
	expect_compared(FIGURE("0", "12.1", ",'low':4839,'verdict':'proven'"),
			"misses/1000 instr.          0       12.1           -  x4840 or more\n");
	expect_compared(
		FIGURE("0.01", "25", ",'difference':2499,'low':1353.4,'high':20010,'verdict':'proven'"),
		"       x2500  x1350 to x20100\n");
	expect_compared(FIGURE("0.01", "5", ",'difference':499,'low':350,'high':20010000,'verdict':'proven'"),
			"     +49900%  +35000% to x20.1M\n");
}

/* 1e999 is infinity. */
Test(format_past, a_difference_that_is_not_a_number_is_not_known)
{
	expect_compared(FIGURE("1", "2", ",'difference':1e999,'low':-1e999,'high':1e999,'verdict':'proven'"),
			"misses/1000 instr.          1          2           -  \n");
}

Test(format_past, zero_on_both_sides_is_shown_as_measured)
{
	expect_compared(FIGURE("0", "0", ",'verdict':'no_value'"), "           -  0 on both sides\n");
	expect_compared("{'a':0,'verdict':'no_value'}", "           -  not measured on both\n");
	expect_compared("{'b':0,'verdict':'no_value'}", "           -  not measured on both\n");
}
