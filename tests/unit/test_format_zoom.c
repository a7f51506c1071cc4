// SPDX-License-Identifier: GPL-2.0
/* The text that people see for zooms and hot tables. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "base/json_get.h"
#include "base/text.h"
#include "example_snapshot.h"
#include "example_zoom.h"
#include "export/json/json.h"
#include "format/format.h"
#include "format/location.h"
#include "formatted.h"

static const struct format_style wide = {0};
static const struct format_style narrow = {.width = 80};

static time_t at(const char *text)
{
	time_t seconds = 0;

	cr_assert_eq(text_parse_time(text, &seconds), 0);
	return seconds;
}

#define NOW at("2026-11-21T06:03:30Z")

/* Returns the example report with one member of its zoom replaced. */
static json_object *report_with(const char *key, const char *value)
{
	json_object *report = formatted_from(example_zoom_report);

	if (key)
		(void)json_object_object_add(json_get_object(report, "zoom"), key, json_tokener_parse(value));
	return report;
}

Test(format_zoom, a_zoom_fits_80_columns)
{
	_cleanup_json_ json_object *report = report_with("events", "['loads','stores']");
	_cleanup_free_ char *text = FORMATTED(format_zoom(out, report, NOW, &narrow));

	formatted_expect_fit(text, 80);
	formatted_expect(text, "     Cgroup: " EXAMPLE_ZOOM_CGROUP "\n");
	formatted_expect(text, "       Zoom: 17, for 30s from Sat 2026-11-21 06:00:00 UTC; 3min 30s ago\n");
	formatted_expect(text, "    Samples: 29,412 of 41,230 seen, 11,806 over the limit, 12 lost");
	formatted_expect(text, "  Throttled: 2 times");
	formatted_expect(text, "   Counting: 98.2% of the time");
	formatted_expect(text,
			 "     Stacks: by frame pointers; 17.7% of 28,900 user stacks end early: probably\n");
	formatted_expect(text, "  LAT%  TOTAL SAMPLES SOURCES      FUNCTION\n"
			       " 41.2%  43.8%    9120 113333DDDDRR heap_hot_search_buffer  heapam.c:1812\n"
			       " 16.6%  16.6%    5200 111111FFF222 _bt_compare  nbtsearch.c:702 postgres\n");
	formatted_expect(text, " <0.1%  <0.1%       2 111111111111 [unknown] libz.so.1.2.13+0x41f0\n");
	formatted_expect(text, "evil\\x1b[31m");
	formatted_expect(text, "  LAT% SAMPLES  HITM ON CPUS CACHE LINE THAT CPUS CONTEND FOR\n"
			       "  9.6%    1400  1390     6/8 0x5621d0c41040\n"
			       "       counters+0x40 (in /usr/lib/postgresql/15/bin/postgres), process 812\n"
			       "       false sharing (candidate): CPUs at different offsets\n"
			       "       OFFSET  HITM SAMPLES STORES CPUS CODE\n"
			       "         0x08   790     800    400    4 count_hit  stats.c:41\n"
			       "         0x30   600     600    100    4 count_miss  stats.c:57\n");
	formatted_expect(text, "       true sharing: CPUs at one offset\n");
	formatted_expect(text, " 45.3%    9000  90.0%  20480 1\n");
	/* A line that CPUs do not contend for is not listed. */
	formatted_expect_not(text, "0x7f31c8fff000");
	formatted_expect(text, "3 addresses are not named yet");
}

/* A count of 0 would say that the CPUs only read. */
Test(format_zoom, stores_that_were_not_sampled_are_not_0)
{
	_cleanup_json_ json_object *loads = report_with(NULL, NULL);
	_cleanup_json_ json_object *both = report_with("events", "['loads','stores:cpu_core']");
	_cleanup_json_ json_object *private = report_with(NULL, NULL);
	_cleanup_free_ char *of_loads = FORMATTED(format_zoom(out, loads, NOW, &wide));
	_cleanup_free_ char *of_both = FORMATTED(format_zoom(out, both, NOW, &wide));
	_cleanup_free_ char *of_private = NULL;

	formatted_expect(of_loads, "         0x08   790     800      -    4 count_hit");
	formatted_expect(of_loads, " STORES: not known, because the zoom sampled no stores\n");
	formatted_expect(
		of_loads,
		" ON CPUS: CPUs that found the line modified by another CPU (HITM) / CPUs that accessed it\n");
	formatted_expect(of_both, "         0x08   790     800    400    4 count_hit");
	formatted_expect_not(of_both, "STORES:");
	/* Without contended lines no column needs to be explained. */
	(void)json_object_object_add(private, "lines", json_object_new_array());
	of_private = FORMATTED(format_zoom(out, private, NOW, &wide));
	formatted_expect_not(of_private, "ON CPUS");
}

Test(format_zoom, a_zoom_is_formatted_on_any_width)
{
	_cleanup_json_ json_object *report = report_with(NULL, NULL);
	_cleanup_json_ json_object *hot = formatted_from(example_hot);

	for (size_t width = 72; width <= 200; width++) {
		const struct format_style style = {.width = width};
		_cleanup_free_ char *text = FORMATTED(format_zoom(out, report, NOW, &style));
		_cleanup_free_ char *hot_text = FORMATTED(format_hot(out, NULL, hot, &style));

		formatted_expect_fit(text, width);
		formatted_expect_fit(hot_text, width);
	}
}

Test(format_zoom, without_a_terminal_nothing_is_cut)
{
	_cleanup_json_ json_object *report = report_with(NULL, NULL);
	_cleanup_free_ char *text = FORMATTED(format_zoom(out, report, NOW, &wide));

	formatted_expect(
		text,
		"heap_hot_search_buffer  src/backend/access/heap/heapam.c:1812 /usr/lib/postgresql/15/bin/postgres\n");
	formatted_expect(
		text, "_M_insert_unique(long&&)  /opt/plugin/lib/libplugin-with-a-rather-long-name.so.3.1\n");
}

/* Without latency, shares are of samples, and no latency is shown. */
Test(format_zoom, a_zoom_of_an_event_without_latency_has_no_latencies)
{
	_cleanup_json_ json_object *report = report_with("latency", "false");
	_cleanup_free_ char *text = NULL;

	json_object_object_del(json_get_object(report, "zoom"), "latency_sum");
	text = FORMATTED(format_zoom(out, report, NOW, &narrow));
	formatted_expect(text, "SHARE%  TOTAL SAMPLES");
	formatted_expect(text, " 31.0%  33.7%    9120");
	formatted_expect_not(text, "LAT%");
}

Test(format_zoom, an_incomplete_zoom_says_what_is_missing)
{
	_cleanup_json_ json_object *running = report_with("state", "'running'");
	_cleanup_json_ json_object *ended = report_with("ran_s", "12.2");
	_cleanup_json_ json_object *lbr = report_with("stacks", "{'by':'lbr','user':100,'early':50}");
	_cleanup_json_ json_object *empty = report_with("samples", "{'taken':0,'seen':0}");
	_cleanup_free_ char *running_text = FORMATTED(format_zoom(out, running, NOW, &narrow));
	_cleanup_free_ char *ended_text = FORMATTED(format_zoom(out, ended, NOW, &narrow));
	_cleanup_free_ char *lbr_text = FORMATTED(format_zoom(out, lbr, NOW, &wide));
	_cleanup_free_ char *empty_text = FORMATTED(format_zoom(out, empty, NOW, &wide));

	formatted_expect(running_text, "Zoom: 17, still running: 30s of 30s");
	formatted_expect(ended_text, "Zoom: 17, for 12.2s of the requested 30s, from");
	formatted_expect(lbr_text, "by the CPU's branch records (LBR); 50.0% of 100 user stacks end early\n");
	formatted_expect(empty_text, "Result: no sample: the cgroup's tasks did not run");
	formatted_expect_not(empty_text, "FUNCTION");
}

Test(format_zoom, items_beyond_the_reply_are_counted)
{
	_cleanup_json_ json_object *zoom = formatted_from(example_zoom_report),
				   *hot = formatted_from(example_hot);
	_cleanup_free_ char *zoom_text = NULL, *hot_text = NULL;

	json_object_object_add(zoom, "left_out", formatted_from("{'functions':4100,'lines':1}"));
	zoom_text = FORMATTED(format_zoom(out, zoom, NOW, &narrow));
	formatted_expect(zoom_text,
			 "Left out: 4,100 functions at the end of the list, because the reply would be\n");
	formatted_expect(zoom_text,
			 "Left out: 1 cache line at the end of the list, because the reply would be too\n");
	formatted_expect_not(zoom_text, "data object");
	json_object_object_foreach (json_get_object(hot, "events"), key, loads) {
		(void)key;
		json_object_object_add(json_get_object(json_get_object(loads, "absent"), "code"), "left_out",
				       json_object_new_int(7980));
		break;
	}
	hot_text = FORMATTED(format_hot(out, NULL, hot, &wide));
	formatted_expect(
		hot_text,
		"Every line not shown has at most 0.3% (44 samples); the tables hold 7,980 of them.\n");
}

/* Any reply is formatted, and a number that is missing in the reply is not shown. */

Test(format_zoom, hot_places_have_bounds)
{
	_cleanup_json_ json_object *hot = formatted_from(example_hot);
	_cleanup_free_ char *text = FORMATTED(format_hot(out, NULL, hot, &narrow));

	formatted_expect_fit(text, 80);
	formatted_expect(text, "Collected: for 12s, since Sat 2026-11-21 06:00:00 UTC, on request");
	formatted_expect(text,
			 "        SHARE       SAMPLES CODE\n"
			 " 30.8 - 31.2%   4600 - 4712 heap_hot_search_buffer+0x138  heapam.c:1812 postgres\n"
			 "        12.2%          1200 _bt_compare+0x60  nbtsearch.c:702 postgres\n"
			 "   0.0 - 2.2%       0 - 300 [kernel]\n"
			 "Every line not shown has at most 0.3% (44 samples).\n");
	formatted_expect(text, " 19.5 - 19.8%   1380 - 1400  1390     6/8 0x5621d0c41040 counters+0x40 ");
	formatted_expect(text, "1 address is not named yet");
}

/* Instructions have no latency, so shares are of samples. Control characters in names are made visible. */
Test(format_zoom, hot_places_of_an_event_without_latency_count_samples)
{
	_cleanup_json_ json_object *status = json_status(example_several());
	_cleanup_json_ json_object *hot = formatted_from(
		"{'origin':'perf','cgroup':'/batch','chosen':{'by':'configuration',"
		"'since':'2026-11-21T06:00:00Z','for_s':200},"
		"'events':{'instructions':{'weight':'samples','samples':1000,"
		"'code':[{'name':'[unknown] x+0x10','module':'/bin/x','offset':16,"
		"'address':'0x401136','share':{'low':0.6,'high':0.6},'samples':{'low':600,"
		"'high':600}},{'name':'\\u001b[2J','share':{'low':0.001,'high':0.2},"
		"'samples':{'low':1,'high':200}}],'absent':{'code':{'samples':1}}}},'unnamed':0}");
	_cleanup_free_ char *text = FORMATTED(format_hot(out, status, hot, &narrow));

	formatted_expect_fit(text, 80);
	formatted_expect(text, "Collected: for 3min 20s, since Sat 2026-11-21 06:00:00 UTC, by the\n"
			       "             configuration\n");
	formatted_expect(text, "Samples: 1,000; shares are of these samples, because they have no latency\n");
	formatted_expect(text, "        60.0%           600 [unknown] x+0x10  0x401136\n"
			       "  0.1 - 20.0%       1 - 200 \\x1b[2J\n"
			       "Every line not shown has at most 0.1% (1 sample).\n");
	formatted_expect_not(text, "CACHE LINE");
}

Test(format_zoom, a_complete_list_of_hot_places_says_so)
{
	_cleanup_json_ json_object *status = json_status(example_several());
	_cleanup_json_ json_object *hot =
		formatted_from("{'origin':'perf','cgroup':'/batch',"
			       "'events':{'instructions':{'weight':'samples','samples':6,"
			       "'code':[{'name':'work','share':{'low':1,'high':1},'samples':{'low':6,"
			       "'high':6}}],'absent':{'code':{'samples':0}}}},'unnamed':0}");
	_cleanup_free_ char *text = FORMATTED(format_hot(out, status, hot, &narrow));

	formatted_expect(text, "work\nNothing else was sampled.\n");
	formatted_expect_not(text, "not shown");
}

Test(format_zoom, hot_lines_without_known_cpus_say_so)
{
	_cleanup_json_ json_object *hot = formatted_from(
		"{'origin':'model','cgroup':'/batch','chosen':{'by':'configuration',"
		"'since':'2026-11-21T06:00:00Z','for_s':200},'events':{'loads':{'weight':'samples',"
		"'samples':1000,'lines':[{'address':'0x7f0000000040','share':{'low':0.6,"
		"'high':0.6},'samples':{'low':600,'high':600},'hitm':12}],"
		"'absent':{'lines':{'samples':1}}}},'unnamed':0}");
	_cleanup_free_ char *text = FORMATTED(format_hot(out, NULL, hot, &narrow));

	formatted_expect(text, "    12       - 0x7f0000000040\n");
}

Test(format_zoom, bounds_are_formatted)
{
	static const struct {
		const char *json, *share;
	} cases[] = {
		{"{'low':0.308,'high':0.312}", "30.8 - 31.2%"},
		{"{'low':0.31199,'high':0.312}", "31.1 - 31.2%"},
		{"{'low':0.312,'high':0.312}", "31.2%"},
		{"{'low':0.0,'high':0.0}", "0.0%"},
		{"{'low':0.0,'high':0.0001}", "0.0 - 0.1%"},
		{"{'low':1.0,'high':1.0}", "100.0%"},
		{"{'low':0.031,'high':0.31}", "3.1 - 31.0%"},
		{"{'low':0.5,'high':0.2}", "-"},
		{"{'low':-1,'high':0.2}", "-"},
		{"{'low':0.5}", "-"},
		{"{}", "-"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_object *bounds = formatted_from(cases[i].json);
		char text[LOCATION_BOUNDS_MAX];

		location_share_bounds(bounds, text);
		cr_expect_str_eq(text, cases[i].share, "%s: %s", cases[i].json, text);
	}
}

Test(format_zoom, the_last_line_of_show_names_zooms_and_hot_tables)
{
	_cleanup_json_ json_object *zooms = json_object_new_object();
	_cleanup_json_ json_object *cgroup = formatted_from("{'cgroup':'" EXAMPLE_ZOOM_CGROUP "'}");
	_cleanup_json_ json_object *other = formatted_from("{'cgroup':'/other'}");
	json_object *list = json_object_new_array();
	_cleanup_free_ char *text = NULL, *early = NULL, *of_other = NULL, *of_none = NULL;

	(void)json_object_array_add(list, formatted_from(example_zoom_state));
	(void)json_object_object_add(zooms, "zooms", list);
	text = FORMATTED(format_zoomed(out, zooms, cgroup, NOW, &wide));
	cr_expect_str_eq(
		text,
		"\n     Detail: the last zoom began 3min 30s ago and ran for 30s: 29,412 samples; see `pebsctl "
		"zoom --last " EXAMPLE_ZOOM_CGROUP "`\n");
	/* A clock that was set back: the zoom began in the future. */
	early = FORMATTED(format_zoomed(out, zooms, cgroup, 1, &wide));
	formatted_expect(early, "\n     Detail: the last zoom ran for 30s: 29,412 samples; ");
	of_other = FORMATTED(format_zoomed(out, zooms, other, NOW, &wide));
	cr_expect_str_eq(of_other, "");
	of_none = FORMATTED(format_zoomed(out, NULL, cgroup, NOW, &wide));
	cr_expect_str_eq(of_none, "");
}

Test(format_zoom, status_lists_zooms_and_hot_tables)
{
	_cleanup_json_ json_object *status = formatted_from(
		"{'origin':'perf','detail':{'zooms_running':1,'zooms_held':3,'zoom_bytes':13002342,"
		"'hot':['/a.service'],'hot_max':8,'symbols':{'asked':1234,'answered':1200,"
		"'unknown':30,'lost':4,'late':2,'starts':1,'bytes':9000000,'own_bytes':1258291}}}");
	_cleanup_free_ char *text = FORMATTED(format_status(out, status, NULL, &narrow));

	formatted_expect(text,
			 "      Zooms: 3 held (1 of them running): 12.4 MiB\n"
			 " Hot tables: 1 of 8 are in use, by\n"
			 "             /a.service\n"
			 "      Names: 1,234 addresses looked up: 30 without a name, 4 without an answer\n"
			 "             2 lookups took more than ten seconds\n"
			 "             1.2 MiB of memory for the names\n");
}
