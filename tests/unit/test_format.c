// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "example_snapshot.h"
#include "export/json/json.h"
#include "format/format.h"
#include "format/line.h"
#include "formatted.h"

static const struct format_style wide = {0};
static const struct format_style narrow = {.width = 80};

Test(format, top_of_a_replay_is_formatted)
{
	_cleanup_json_ json_object *status = json_status(example_replay());
	_cleanup_json_ json_object *top = json_top(example_replay());
	_cleanup_free_ char *text = FORMATTED(format_top(out, status, top, &wide));

	cr_expect_str_eq(
		text,
		"     Origin: replay since Sat 2026-11-21 06:00:00 UTC, window all\n"
		"    Samples: 14 seen, 0 unattributed; lost: not known\n"
		"      Event: loads: period not known or not constant; use latency, in core cycles, of sampled loads above 64 cycles; not a count of all loads\n"
		"             LAT% uses unweighted latency, because the periods are not known\n"
		"\n"
		"CGROUP           SAMPLES  LAT%   MEAN    P50    P99  L1 LFB  L2  L3 LOCAL REMOTE OTHER HITM%\n"
		"comm:kstaled          13  93.5    124    119   174?  23  38   8  31     0      0     0     0\n"
		"comm:evil\\x1b[2J       1   6.5    112   108?   112? 100   0   0   0     0      0     0     0\n"
		"\n"
		"? too few samples for this quantile\n");
}

/* The names of cgroups come first, and with --full their paths. */
Test(format, cgroups_are_shown_by_name_or_path)
{
	static const struct format_style full = {.full = true};
	_cleanup_json_ json_object *top = json_top(example_replay());
	_cleanup_json_ json_object *status = json_status(example_replay());
	_cleanup_json_ json_object *cgroup = json_cgroup(example_replay(), 0, NULL);
	_cleanup_free_ char *names = NULL, *paths = NULL, *head = NULL, *head_full = NULL;
	json_object *first = json_object_array_get_idx(json_get_array(top, "cgroups"), 0);

	json_object_object_add(first, "name", json_object_new_string("short\tname"));
	json_object_object_add(cgroup, "name", json_object_new_string("kstaled"));
	names = FORMATTED(format_top(out, status, top, &wide));
	paths = FORMATTED(format_top(out, status, top, &full));
	head = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	head_full = FORMATTED(format_cgroup(out, status, cgroup, NULL, &full));
	cr_expect_not_null(strstr(names, "\nshort\\x09name "));
	cr_expect_null(strstr(names, "comm:kstaled"));
	cr_expect_not_null(strstr(paths, "\ncomm:kstaled "));
	cr_expect_not_null(strstr(head, "     Cgroup: kstaled\n       Path: comm:kstaled\n"));
	cr_expect_str_eq(head, head_full);
}

static struct tm *two_hours_east(const time_t *time, struct tm *ret)
{
	const time_t local = *time + 7200;

	if (!gmtime_r(&local, ret))
		return NULL;
	ret->tm_zone = "EET";
	return ret;
}

Test(format, times_have_one_form_in_the_zone_of_the_style)
{
	const struct format_style east = {.zone = two_hours_east};
	_cleanup_free_ char *kept = NULL, *other = NULL;
	char text[LINE_TIME_MAX];

	cr_expect_str_eq(line_time(&wide, "2026-11-21T23:00:00Z", text), "Sat 2026-11-21 23:00:00 UTC");
	cr_expect_str_eq(line_time(&east, "2026-11-21T23:00:00Z", text), "Sun 2026-11-22 01:00:00 EET");
	cr_expect_str_eq(line_time(&east, "yesterday", text), "an unknown time");
	cr_expect_str_eq(line_time(&east, NULL, text), "an unknown time");
	cr_expect_str_eq(line_since(&east, "2026-11-21T23:00:00Z", 1795302000 + 125, text),
			 "Sun 2026-11-22 01:00:00 EET; 2min 5s ago");
	cr_expect_str_eq(line_since(&east, "", 1, text), "an unknown time");
	/* A clock that was set back: the time is not in the past. */
	cr_expect_str_eq(line_since(&east, "2026-11-21T23:00:00Z", 1795302000 - 1, text),
			 "Sun 2026-11-22 01:00:00 EET");
	cr_expect_str_eq(line_sentence(&east, "from 2026-11-21T23:00:00Z\tto 2026-11-21T23:00:0", &kept),
			 "from Sun 2026-11-22 01:00:00 EET\\x09to 2026-11-21T23:00:0");
	cr_expect_str_eq(line_sentence(&east, NULL, &other), "-");
}

Test(format, each_recording_of_a_replay_is_described)
{
	static const struct recording recordings[] = {
		{.file = "/tmp/a\x1b[2J.data",
		 .host = "db-7",
		 .cpu = "Intel(R) Xeon(R) Platinum 8173M",
		 .kernel = "5.10.0-28-amd64",
		 .time = {.tv_sec = 1700000000}},
		{.file = "standard input"},
		{.file = "b.data", .time = {.tv_sec = 1700000000}, .time_of_file = true},
	};
	static const char expected[] =
		"  Recording: /tmp/a\\x1b[2J.data, host db-7, Intel(R) Xeon(R) Platinum 8173M, Linux 5.10.0-28-amd64, recorded Tue 2023-11-14 22:13:20 UTC\n"
		"  Recording: standard input\n"
		"  Recording: b.data, recorded before Tue 2023-11-14 22:13:20 UTC (time of the file)\n";
	struct snapshot *snapshot = example_replay();
	_cleanup_json_ json_object *status = NULL, *top = NULL;
	_cleanup_free_ char *top_text = NULL, *status_text = NULL;

	snapshot->recordings = recordings;
	snapshot->n_recordings = ARRAY_SIZE(recordings);
	status = json_status(snapshot);
	top = json_top(snapshot);
	top_text = FORMATTED(format_top(out, status, top, &wide));
	status_text = FORMATTED(format_status(out, status, NULL, &wide));
	cr_expect(strstr(top_text, expected), "%s", top_text);
	cr_expect(strstr(status_text, expected), "%s", status_text);
}

Test(format, top_of_a_live_machine_fits_80_columns)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *top = NULL;
	_cleanup_free_ char *text = NULL;

	snapshot->window_seconds = (struct maybe_double){.known = true, .value = 10};
	status = json_status(snapshot);
	top = json_top(snapshot);
	text = FORMATTED(format_top(out, status, top, &narrow));
	cr_expect_str_eq(text,
			 "     Origin: perf since Sat 2026-11-21 06:00:00 UTC, window 10s\n"
			 "    Samples: 103 seen (10.3 a second), 2 unattributed (1.9%); lost: 1 malformed\n"
			 "  Unsampled: 1.5s multiplexed (added up over all events and CPUs)\n"
			 "      Event: loads:cpu_core: period 1,009; cache latency, in core cycles, of\n"
			 "             sampled loads above 30 cycles of instruction latency; not a count\n"
			 "             of all loads\n"
			 "             SOURCES: 1 L1  F LFB  2 L2  3 L3  D local DRAM  R remote  o other\n"
			 "\n"
			 "CGROUP                   SAMPLES  LAT%   MEAN    P50    P99 SOURCES      HITM%\n"
			 "/system.slice/db.service      10   0.1    400    400   416? RRRRRRRRRRRR    50\n"
			 "/                             90   0.0     20     19    20? 111111111111     0\n"
			 "\n"
			 "      Event: loads:cpu_atom: period 2,003; cache latency, in core cycles, of\n"
			 "             sampled loads above 30 cycles of instruction latency; not a count\n"
			 "             of all loads\n"
			 "\n"
			 "CGROUP                   SAMPLES  LAT%   MEAN    P50    P99 SOURCES      HITM%\n"
			 "/system.slice/db.service       1 100.0     30    29?    30? 222222222222     -\n"
			 "\n"
			 "? too few samples for this quantile\n");
	formatted_expect_fit(text, 80);
}

Test(format, top_cuts_names_at_their_start)
{
	static const char path[] =
		"/kubepods.slice/kubepods-burstable.slice/kubepods-pod1.slice/cri-77ab.scope";
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *top = NULL;
	_cleanup_free_ char *cut = NULL;
	_cleanup_free_ char *whole = NULL;

	snapshot->cgroups[0].path = path;
	status = json_status(snapshot);
	top = json_top(snapshot);
	cut = FORMATTED(format_top(out, status, top, &narrow));
	cr_expect_not_null(strstr(cut, "\n...d1.slice/cri-77ab.scope "));
	formatted_expect_fit(cut, 80);
	whole = FORMATTED(format_top(out, status, top, &wide));
	cr_expect_not_null(strstr(whole, path), "what is not a terminal gets whole names");
}

Test(format, bandwidth_of_resctrl_groups_is_shown)
{
	struct resctrl_rate list[10] = {
		{.group = "", .known = {true, true}, .rates = {12345678901.0, 4e9}},
		{.group = "mon_groups/web", .known = {true, false}, .rates = {5e8}},
	};
	const struct resctrl_rates rates = {.seconds = 10, .n = ARRAY_SIZE(list), .list = list};
	_cleanup_json_ json_object *status = json_status(example_perf());
	_cleanup_free_ char *text = NULL;

	for (size_t i = 2; i < ARRAY_SIZE(list); i++)
		list[i].group = "other";
	status = json_add_bandwidth(status, &rates);
	text = FORMATTED(format_status(out, status, NULL, &wide));
	cr_expect_not_null(
		strstr(text,
		       "  Bandwidth: resctrl /: 12.3 GB/s with all memory, 4 GB/s with memory of the same node (last 10s)\n"),
		"%s", text);
	cr_expect_not_null(strstr(
		text,
		"resctrl /mon_groups/web: 500 MB/s with all memory, - with memory of the same node (last 10s)\n"));
	cr_expect_not_null(strstr(text, "and 2 more groups\n"));
}

Test(format, absent_values_are_a_dash)
{
	static const char reply[] =
		"{'origin':'perf','samples':{'seen':5,'unattributed':0,'lost':{'malformed':0}},"
		"'total':{'events':{'stores':{'samples':5}}},'cgroups':[{'cgroup':'/a','id':1,"
		"'events':{'stores':{'samples':5}}}]}";
	_cleanup_json_ json_object *top = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *bar = NULL;

	top = formatted_from(reply);
	text = FORMATTED(format_top(out, NULL, top, &wide));
	cr_expect_not_null(strstr(
		text,
		"/a                 5     -      -      -      -   -   -   -   -     -      -     -     -\n"));
	cr_expect_not_null(strstr(text, "perf since an unknown time"));
	cr_expect_not_null(strstr(text, "lost: 0 malformed\n"));
	bar = FORMATTED(format_top(out, NULL, top, &narrow));
	cr_expect_not_null(
		strstr(bar, "/a                 5     -      -      -      - -                -\n"));
}

Test(format, an_overflow_is_not_shown_as_a_number)
{
	struct snapshot *snapshot = example_perf();
	struct counters far = {0};
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *top = NULL;
	_cleanup_json_ json_object *cgroup = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *shown = NULL;

	example_add(&far, 3, SOURCE_CXL, 2000000, 1, SNOOP_NONE, TLB_WALK);
	snapshot->cgroups[1].counters[0] = &far;
	status = json_status(snapshot);
	top = json_top(snapshot);
	text = FORMATTED(format_top(out, status, top, &wide));
	cr_expect_not_null(strstr(text, "  2.00M >1.05M? >1.05M?"));
	cgroup = json_cgroup(snapshot, 1, NULL);
	shown = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	cr_expect_not_null(strstr(shown, "p99 above 1048576?, "));
	cr_expect_not_null(strstr(shown, "\n    above 1048576        3 100.0%  ###"));
}

/* The value of a reply may be any number. */
Test(format, an_overflow_is_written_as_its_lower_bound)
{
	static const char *const values[] = {"1048576", "-1e300", "1e300"};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		_cleanup_json_ json_object *top = NULL;
		_cleanup_free_ char *reply = NULL, *text = NULL;

		cr_assert_gt(
			asprintf(&reply,
				 "{'total':{'events':{'loads':{'samples':1}}},'cgroups':[{'cgroup':'/a',"
				 "'events':{'loads':{'samples':1,'latency':{'p99':{'value':%s,'low':1048576,"
				 "'high':4294967295,'few':true}}}}}]}",
				 values[i]),
			0);
		top = formatted_from(reply);
		text = FORMATTED(format_top(out, NULL, top, &wide));
		cr_expect(strstr(text, " >1.05M?"), "%s: %s", values[i], text);
	}
}

/* The sum of two buckets that are one here exceeds 64 bits, and is 0. */
Test(format, a_histogram_whose_counts_overflow_is_formatted)
{
	_cleanup_json_ json_object *cgroup = formatted_from(
		"{'events':{'loads':{'samples':2,'histogram':[{'le':5,'samples':9223372036854775808},{'le':5,'samples':9223372036854775808}]}}}");
	_cleanup_free_ char *text = FORMATTED(format_cgroup(out, NULL, cgroup, NULL, &wide));

	cr_expect(strstr(text, "Samples: 2\n"), "%s", text);
}

/* A recording can state any period, and thus any rate. */
Test(format, rates_of_any_size_are_formatted)
{
	static const struct {
		double rate;
		const char *text;
	} cases[] = {
		{0.25, "0.25"},
		{99.94, "99.9"},
		{99.96, "100"},
		{2950, "2,950"},
		{999999999, "999,999,999"},
		{1e15, "1e+15"},
		{1.234e21, "1.23e+21"},
		{INFINITY, "-"},
		{NAN, "-"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[TEXT_NUMBER_MAX];

		line_rate(cases[i].rate, text);
		cr_expect_str_eq(text, cases[i].text);
	}
}

/*
 * Divides `text`, the output for one event: the lines of flags become one line without their label, and the other lines
 * the rest. The caller frees both.
 */
static void divide(const char *text, char **ret_flags, char **ret_rest)
{
	static const char label[] = "      Flags: ";
	const int indent = (int)strlen(label);
	size_t flags_size, rest_size;
	FILE *flags = open_memstream(ret_flags, &flags_size);
	FILE *rest = open_memstream(ret_rest, &rest_size);
	bool within = false;

	cr_assert(flags && rest);
	while (*text) {
		int length = (int)strcspn(text, "\n");
		bool first = strncmp(text, label, strlen(label)) == 0;

		within = first || (within && strspn(text, " ") == strlen(label));
		if (within)
			(void)fprintf(flags, "%s%.*s", first ? "" : " ", length - indent, text + indent);
		else
			(void)fprintf(rest, "%.*s\n", length, text);
		text += length + 1;
	}
	(void)fclose(flags);
	(void)fclose(rest);
}

#define FLAGS_MAX 1024

/* Appends a flag of a replay with 13 samples, of which 2 are locked and have no other flag. */
static void append_flag(char expected[FLAGS_MAX], const char *name)
{
	size_t length = strlen(expected);
	bool locked = strcmp(name, "locked") == 0;

	(void)snprintf(expected + length, FLAGS_MAX - length, "%s%s %s", length ? ", " : "", name,
		       locked ? "2 (15.4%)" : "0 (0.0%)");
}

Test(format, a_cgroup_of_a_replay_is_formatted)
{
	_cleanup_json_ json_object *status = json_status(example_replay());
	_cleanup_json_ json_object *cgroup = json_cgroup(example_replay(), 0, NULL);
	_cleanup_free_ char *text = FORMATTED(format_cgroup(out, status, cgroup, NULL, &narrow));
	_cleanup_free_ char *flags = NULL, *rest = NULL;
	char expected[FLAGS_MAX] = "";

	formatted_expect_fit(text, 80);
	divide(text, &flags, &rest);
#define APPEND_FLAG(name, ...) append_flag(expected, #name);
	ACCESS_FLAGS(APPEND_FLAG)
	cr_expect_str_eq(flags, expected);
	cr_expect_str_eq(rest,
			 "     Cgroup: comm:kstaled\n"
			 "     Origin: replay since Sat 2026-11-21 06:00:00 UTC, window all\n"
			 "\n"
			 "      Event: loads: period not known or not constant; use latency, in core\n"
			 "             cycles, of sampled loads above 64 cycles; not a count of all loads\n"
			 "    Samples: 13\n"
			 "    Latency: mean 124.1, p50 119 (bucket 113-120), p90 155? (145-160), p95 166?\n"
			 "             (161-176), p99 174? (161-176), p999 176? (161-176) cycles\n"
			 "             ? too few samples for this quantile\n"
			 "      Snoop: none 13 (100.0%)\n"
			 "        TLB: hit 12 (92.3%), miss 1 (7.7%)\n"
			 "\n"
			 "SOURCE        SAMPLES  SHARE    LAT%   MEAN\n"
			 "l1                  3  23.1%   18.6%    100  ########\n"
			 "lfb                 5  38.5%   45.2%    146  #############\n"
			 "l2                  1   7.7%    4.8%     77  ###\n"
			 "l3                  4  30.8%   31.4%    127  ###########\n"
			 "\n"
			 "        CYCLES     SAMPLES  SHARE\n"
			 "          73 - 80        1   7.7%  ###########\n"
			 "          81 - 88        0   0.0%\n"
			 "          89 - 96        0   0.0%\n"
			 "         97 - 104        3  23.1%  #################################\n"
			 "        105 - 112        0   0.0%\n"
			 "        113 - 120        3  23.1%  #################################\n"
			 "        121 - 128        0   0.0%\n"
			 "        129 - 144        4  30.8%  ############################################\n"
			 "        145 - 160        1   7.7%  ###########\n"
			 "        161 - 176        1   7.7%  ###########\n");
}

#define BOUNDED(p50, p99, l3)                                                                        \
	"{'cgroup':'/a','id':1,'origin':'perf','events':{'loads':{'samples':1000,'confidence':0.95," \
	"'latency':{'sum':100000,'mean':100.0,'p50':{'value':99.5,'low':96,'high':104" p50           \
	"},'p99':{'value':500.1,'low':448,'high':512" p99                                            \
	"}},'sources':{'l3':{'samples':250,'latency_sum':50000" l3 "}}}}}"

Test(format, a_window_has_bounds)
{
	_cleanup_json_ json_object *even = formatted_from(
		BOUNDED(",'bounds':{'low':88,'high':112,'worth':1000}", ",'bounds':{'low':384,'worth':1000}",
			",'bounds':{'low':0.22751,'high':0.273512}"));
	_cleanup_json_ json_object *bursts =
		formatted_from(BOUNDED(",'bounds':{'low':64,'high':160,'worth':81}", "", ""));
	_cleanup_json_ json_object *unknown = formatted_from(BOUNDED("", "", ""));
	_cleanup_free_ char *text = FORMATTED(format_cgroup(out, NULL, even, NULL, &narrow));

	cr_expect_not_null(
		strstr(text,
		       "    Latency: mean 100.0, p50 100 (bounds 89-112), p99 500 (above 384) cycles\n"
		       "     Bounds: each at 95% confidence; 1,000 samples are worth 1,000 independent\n             ones\n"),
		"%s", text);
	cr_expect_not_null(strstr(text,
				  "SOURCE        SAMPLES  SHARE         BOUNDS    LAT%   MEAN\n"
				  "l3                250  25.0%   22.7 - 27.4%   50.0%      -  #####\n"),
			   "%s", text);
	formatted_expect_fit(text, 80);
	free(text);
	text = FORMATTED(format_cgroup(out, NULL, bursts, NULL, &narrow));
	cr_expect_not_null(
		strstr(text,
		       "p50 100 (bounds 65-160), p99 500 (no bounds) cycles\n"
		       "     Bounds: each at 95% confidence; 1,000 samples are worth 81 independent ones\n"),
		"%s", text);
	cr_expect_not_null(
		strstr(text, "l3                250  25.0%              -   50.0%      -  #####\n"), "%s",
		text);
	formatted_expect_fit(text, 80);
	free(text);
	text = FORMATTED(format_cgroup(out, NULL, unknown, NULL, &narrow));
	cr_expect_not_null(strstr(text, "     Bounds: not known: the samples came in too few bursts"), "%s",
			   text);
}

/* On AMD, a load that hit L1 has a source and no latency. */
Test(format, latencies_of_only_some_samples_are_marked)
{
	struct snapshot *snapshot = example_replay();
	struct counters *counters = (struct counters *)snapshot->cgroups[0].counters[0];
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *cgroup = NULL;
	_cleanup_free_ char *text = NULL;

	counters->samples[SOURCE_L1] += 7;
	counters->snoop[SNOOP_NA] += 7;
	counters->tlb[TLB_L1_HIT] += 7;
	snapshot->events[0].event.latency_kind = LATENCY_DC_MISS;
	snapshot->events[0].event.ldlat = 0;
	status = json_status(snapshot);
	cgroup = json_cgroup(snapshot, 0, NULL);
	text = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	cr_expect_not_null(
		strstr(text, "data cache miss latency, in core cycles, of sampled loads that missed L1;"),
		"%s", text);
	cr_expect_not_null(
		strstr(text, "    Samples: 20\n    Latency: mean 124.1, p50 119 (bucket 113-120), "), "%s",
		text);
	cr_expect_not_null(strstr(text, " cycles; of the 13 samples that have a latency\n"), "%s", text);
	cr_expect_not_null(strstr(text, "l1                 10  50.0%   18.6%    100  "), "%s", text);
}

Test(format, a_wide_histogram_is_in_octaves)
{
	struct snapshot *snapshot = example_perf();
	struct counters spread = {0};
	_cleanup_json_ json_object *cgroup = NULL;
	_cleanup_free_ char *text = NULL;

	example_add(&spread, 4, SOURCE_L1, 1, 1, SNOOP_NONE, TLB_HIT);
	example_add(&spread, 2, SOURCE_L1, 65, 1, SNOOP_NONE, TLB_HIT);
	example_add(&spread, 1, SOURCE_L1, 128, 1, SNOOP_NONE, TLB_HIT);
	example_add(&spread, 1, SOURCE_L1, 129, 1, SNOOP_NONE, TLB_HIT);
	snapshot->cgroups[1].counters[0] = &spread;
	cgroup = json_cgroup(snapshot, 1, NULL);
	text = FORMATTED(format_cgroup(out, NULL, cgroup, NULL, &narrow));
	cr_expect_not_null(strstr(text, "                1        4  50.0%  ####"));
	cr_expect_not_null(strstr(text, "         65 - 128        3  37.5%  ####"));
	cr_expect_not_null(strstr(text, "        129 - 256        1  12.5%  ####"));
	cr_expect_null(strstr(text, "257"));
}

Test(format, trends_show_quiet_windows)
{
	struct snapshot *snapshot = example_perf();
	struct counters slower = {0};
	_cleanup_json_ json_object *whole = json_cgroup(snapshot, 1, NULL);
	_cleanup_json_ json_object *window = NULL;
	_cleanup_json_ json_object *quiet = json_cgroup_without_samples(snapshot, "/quiet", 3, false);
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *nothing = NULL;

	example_add(&slower, 1, SOURCE_L1, 30, 1, SNOOP_NONE, TLB_HIT);
	snapshot->cgroups[1].counters[0] = &slower;
	window = json_cgroup(snapshot, 1, NULL);
	text = FORMATTED(format_cgroup(out, NULL, window, whole, &wide));
	cr_expect_not_null(strstr(text, "      Trend: the mean is 30.0; over all time it is 20.0: +50.0%\n"));
	nothing = FORMATTED(format_cgroup(out, NULL, quiet, NULL, &wide));
	cr_expect_not_null(strstr(nothing, "Cgroup: /quiet (id 3), removed\n"));
	cr_expect_not_null(strstr(nothing, "none so far"));
	free(nothing);
	json_object_object_add(quiet, "window_s", json_object_new_int(10));
	nothing = FORMATTED(format_cgroup(out, NULL, quiet, NULL, &wide));
	cr_expect_not_null(strstr(nothing, "none in this window; --window all shows earlier ones"));
	free(nothing);
	/* A reply about the past has "gaps". */
	json_object_object_add(quiet, "gaps", json_object_new_array());
	nothing = FORMATTED(format_cgroup(out, NULL, quiet, NULL, &wide));
	cr_expect_not_null(strstr(nothing, "Samples: none in this time\n"));
}

Test(format, a_trend_of_the_past_is_not_called_recent)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *cgroup = json_cgroup(snapshot, 1, NULL);
	static const char trend[] = "{'bin_s':36,'samples':[9,9],'mean':[30,31],'covered_s':[36,36]}";
	_cleanup_free_ char *text = NULL, *narrow_text = NULL;

	json_object_object_foreach (json_get_object(cgroup, "events"), key, event) {
		(void)key;
		json_object_object_add(event, "trend", json_tokener_parse(trend));
	}
	text = FORMATTED(format_cgroup(out, NULL, cgroup, NULL, &wide));
	cr_expect_not_null(strstr(text, "      Trend: 1min 12s, 36s per cell: means from 30 to 31\n"), "%s",
			   text);
	narrow_text = FORMATTED(format_cgroup(out, NULL, cgroup, NULL, &(struct format_style){.width = 14}));
	/* In a narrow terminal, the first cell has no room. */
	cr_expect_not_null(strstr(narrow_text, "      Trend: the\n             last\n             36s,\n"),
			   "%s", narrow_text);
}

/* Everything that is printed about a model says that it is one. */
Test(format, everything_about_a_model_says_that_it_is_one)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *top = NULL;
	_cleanup_json_ json_object *cgroup = NULL;
	const char *begin = "     Origin: model (no measurement) since Sat 2026-11-21 06:00:00 UTC";
	char *texts[3];

	snapshot->origin = "model";
	status = json_status(snapshot);
	top = json_top(snapshot);
	cgroup = json_cgroup(snapshot, 0, NULL);
	texts[0] = FORMATTED(format_status(out, status, NULL, &wide));
	texts[1] = FORMATTED(format_top(out, status, top, &wide));
	texts[2] = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cr_expect_not_null(strstr(texts[i], begin), "%s", texts[i]);
		free(texts[i]);
	}
}

Test(format, the_status_of_a_live_machine_is_formatted)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = json_status(snapshot);
	_cleanup_json_ json_object *recent = NULL;
	_cleanup_free_ char *text = NULL;

	snapshot->window_seconds = (struct maybe_double){.known = true, .value = 10};
	recent = example_top(snapshot, NULL, 0);
	text = FORMATTED(format_status(out, status, recent, &wide));
	cr_expect_str_eq(
		text,
		"      State: sampling loads on 8 CPUs, 1.0% of the samples lost, 1.9% without a slot\n"
		"     Origin: perf since Sat 2026-11-21 06:00:00 UTC\n"
		"      Event: loads:cpu_core: period 1,009; cache latency, in core cycles, of sampled loads above 30 cycles of instruction latency; not a count of all loads\n"
		"             102 seen; lost: 0 malformed, 3 unexplained\n"
		"             on cpu_core, CPUs 0-3, counting 97.5% of the time\n"
		"             in error, not counting: CPUs 2-3\n"
		"             throttled at some time since the start: CPUs 0\n"
		"      Event: loads:cpu_atom: period 2,003; cache latency, in core cycles, of sampled loads above 30 cycles of instruction latency; not a count of all loads\n"
		"             1 seen; lost: 1 malformed\n"
		"             on cpu_atom, CPUs 4-7\n"
		"    Samples: 103 seen, 2 unattributed (1.9%); lost: 1 malformed\n"
		"  Unsampled: 1.5s multiplexed (added up over all events and CPUs)\n"
		"       Rate: 10.3 samples a second in the last 10s\n"
		"    Cgroups: 57 with a slot; 454 of 512 slots are free; the maximum is 4096 slots\n"
		"             cgroups that found no slot: 3; their samples are unattributed; raise `max-memory` in [cgroups], or `max` if it is a number, and restart pebsd\n"
		"     Memory: 10.0 MiB of BPF maps; 4 stripes per slot\n"
		"             3.4 MiB in the daemon itself, at most 11.2 MiB while it started\n"
		" Collection: every 1s; the last took 0.412ms\n"
		"     Config: read at Sat 2026-11-21 05:59:59 UTC; the last reload failed, so this one stays in force; see the journal, or run `pebsd --check-config`\n"
		"             /etc/pebsd/pebsd.conf, 1 more and /etc/pebsd/pebsd.conf.d/b.conf\n"
		"       Note: cpu_atom: no counter was free on CPU 4\n");
}

Test(format, cgroups_that_got_a_slot_later_are_shown_as_past)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_free_ char *text = NULL;

	snapshot->births_without_slot = 3;
	snapshot->slots_missing = false;
	status = json_status(snapshot);
	text = FORMATTED(format_status(out, status, NULL, &wide));
	cr_expect_not_null(
		strstr(text,
		       "cgroups that found no slot when they were created: 3; every cgroup has one now"),
		"%s", text);
}

static struct snapshot *perf_without_slots(void)
{
	static char first[] = "/new.slice/a\n.service", second[] = "/new.slice/b.service";
	static char *paths[] = {first, second};
	static const struct no_slot no_slot = {.paths = paths, .n = 2};
	struct snapshot *snapshot = example_perf();

	snapshot->without_slot = 2;
	snapshot->no_slot = &no_slot;
	return snapshot;
}

Test(format, status_and_top_show_cgroups_without_a_slot)
{
	_cleanup_json_ json_object *status = json_status(perf_without_slots());
	_cleanup_json_ json_object *top = json_top(perf_without_slots());
	_cleanup_free_ char *text = FORMATTED(format_status(out, status, NULL, &wide));
	_cleanup_free_ char *table = FORMATTED(format_top(out, status, top, &wide));

	cr_expect_not_null(
		strstr(text,
		       "    No slot: 2 cgroups: their samples are unattributed, and no rule judges these cgroups; raise `max-memory` in [cgroups], or `max` if it is a number, and restart pebsd\n"
		       "             /new.slice/a\\x0a.service\n"
		       "             /new.slice/b.service\n"),
		"%s", text);
	cr_expect_null(strstr(text, "found no slot"), "%s", text);
	cr_expect_not_null(strstr(table, "    No slot: 2 cgroups: their samples"), "%s", table);
}

Test(format, more_cgroups_without_a_slot_than_are_named)
{
	struct snapshot *snapshot = perf_without_slots();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_free_ char *text = NULL;

	snapshot->without_slot = 60000;
	status = json_status(snapshot);
	text = FORMATTED(format_status(out, status, NULL, &wide));
	cr_expect_not_null(strstr(text, "             /new.slice/b.service\n"
					"             and 59998 more\n"),
			   "%s", text);
}

Test(format, a_cgroup_without_a_slot_says_so)
{
	_cleanup_json_ json_object *cgroup =
		json_cgroup_without_samples(perf_without_slots(), "/new.slice/b.service", 0, true);
	_cleanup_json_ json_object *other =
		json_cgroup_without_samples(perf_without_slots(), "/idle", 7, true);
	_cleanup_free_ char *text = FORMATTED(format_cgroup(out, NULL, cgroup, cgroup, &wide));
	_cleanup_free_ char *idle = FORMATTED(format_cgroup(out, NULL, other, other, &wide));

	cr_expect_not_null(strstr(text, "     Cgroup: /new.slice/b.service\n"
					"       Slot: none: no slot was free for this cgroup"),
			   "%s", text);
	cr_expect_not_null(strstr(text, "    Samples: none counted for this cgroup\n"), "%s", text);
	cr_expect_null(strstr(idle, "Slot"), "%s", idle);
}

Test(format, a_sum_says_how_many_of_its_cgroups_are_missing)
{
	_cleanup_json_ json_object *sum = json_subtree_without_samples(perf_without_slots(), "/new.slice", 2);
	_cleanup_json_ json_object *one =
		json_subtree_without_samples(perf_without_slots(), "/new.slice/b.service", 1);
	_cleanup_free_ char *text = FORMATTED(format_cgroup(out, NULL, sum, sum, &wide));
	_cleanup_free_ char *itself = FORMATTED(format_cgroup(out, NULL, one, one, &wide));

	cr_expect_not_null(
		strstr(text,
		       "    No slot: 2 cgroups at and below this one: their samples are missing from these figures; raise `max-memory` in [cgroups], or `max` if it is a number, and restart pebsd\n"),
		"%s", text);
	cr_expect_not_null(strstr(text, "    Samples: none counted for this cgroup\n"), "%s", text);
	cr_expect_not_null(strstr(itself, "       Slot: none: "), "%s", itself);
	cr_expect_null(strstr(itself, "No slot: 1"), "%s", itself);
}

Test(format, a_watched_item_is_one_line)
{
	static const char item[] =
		"{\"time\":\"2026-11-21T06:00:00Z\",\"event\":\"born\",\"text\":\"/a\\nb\"}";
	_cleanup_json_ json_object *object = NULL;
	_cleanup_free_ char *text = NULL;

	cr_assert_eq(json_parse(item, strlen(item), 4, &object), 0);
	text = FORMATTED(format_item(out, object, &(struct format_style){0}));
	cr_expect_str_eq(text, "Sat 2026-11-21 06:00:00 UTC born    /a\\x0ab\n");
}

Test(format, watched_items_have_names)
{
	static const struct format_style full = {.full = true}, usual = {0};
	_cleanup_json_ json_object *item = formatted_from(
		"{'time':'2026-11-21T06:00:00Z','event':'zoom','text':'zoom 1 on /a/b.service begins, for 10s','cgroup':'/a/b.service','name':'b'}");
	_cleanup_free_ char *names = FORMATTED(format_item(out, item, &usual));
	_cleanup_free_ char *paths = FORMATTED(format_item(out, item, &full));

	cr_expect_str_eq(names, "Sat 2026-11-21 06:00:00 UTC zoom    zoom 1 on b begins, for 10s\n");
	cr_expect_str_eq(paths,
			 "Sat 2026-11-21 06:00:00 UTC zoom    zoom 1 on /a/b.service begins, for 10s\n");
}

Test(format, a_name_that_looks_like_a_time_stays_as_it_is)
{
	static const struct format_style usual = {0};
	_cleanup_json_ json_object *item = formatted_from(
		"{'time':'2026-11-21T06:00:00Z','event':'zoom','text':'zoom of /job-2026-01-01T00:00:00Z ends at 2026-11-21T07:00:00Z','cgroup':'/job-2026-01-01T00:00:00Z'}");
	_cleanup_free_ char *text = FORMATTED(format_item(out, item, &usual));

	cr_expect_str_eq(
		text,
		"Sat 2026-11-21 06:00:00 UTC zoom    zoom of /job-2026-01-01T00:00:00Z ends at Sat 2026-11-21 07:00:00 UTC\n");
}

Test(format, words_are_never_split_and_long_ones_stay_whole)
{
	static const struct format_style tight = {.width = 20};
	_cleanup_free_ char *text = FORMATTED({
		line_put(out, &tight, "Label", "%s", "one two three");
		line_put(out, &tight, "Label", "%s", "unbreakable-thing a");
		line_put(out, &tight, NULL, "%s", "at the left edge of it all");
		line_put(out, &tight, "", "%s", "");
	});

	cr_expect_str_eq(text, "      Label: one two\n"
			       "             three\n"
			       "      Label: unbreakable-thing\n"
			       "             a\n"
			       "at the left edge of\n"
			       "it all\n"
			       "             \n");
}

/* The table of each event has columns only for the values that the event measures. */
Test(format, top_has_a_table_for_each_event)
{
	struct snapshot *snapshot = example_several();
	_cleanup_json_ json_object *status = json_status(snapshot);
	_cleanup_json_ json_object *top = json_top(snapshot);
	_cleanup_free_ char *text = FORMATTED(format_top(out, status, top, &narrow));
	_cleanup_free_ char *numbers = FORMATTED(format_top(out, status, top, &wide));
	const char *stores = strstr(text, "      Event: stores:");

	formatted_expect_fit(text, 80);
	cr_assert_not_null(stores);
	cr_expect_str_eq(stores,
			 "      Event: stores: period 5,003; sampled stores, without latency; not a count\n"
			 "             of all stores\n"
			 "\n"
			 "CGROUP                   SAMPLES SHARE% SOURCES      WALK% LOCK%\n"
			 "/system.slice/db.service      40   80.0 111111111ooo    25    10\n"
			 "/batch                        10   20.0 111111111111     0     0\n"
			 "\n"
			 "      Event: instructions: period 2,000,003; sampled instructions; not a count\n"
			 "             of all instructions; `pebsctl hot` shows where they are in the code\n"
			 "\n"
			 "CGROUP                   SAMPLES SHARE%\n"
			 "/system.slice/db.service     200   32.3\n"
			 "/machine.slice/vm.scope*      20    3.2\n"
			 "/batch                       400   64.5\n"
			 "\n"
			 "? too few samples for this quantile\n"
			 "* a virtual machine: guest not sampled, only the host's side of it\n");
	cr_expect_not_null(strstr(numbers, "\n"
					   "CGROUP                   SAMPLES SHARE%  L1 OTHER WALK% LOCK%\n"
					   "/system.slice/db.service      40   80.0  75    25    25    10\n"),
			   "levels that precise store does not report have no column");
	cr_expect_null(strstr(numbers, "nan"));
}

/* Translation, locks and snoops are not measured for Haswell's stores: they must not be shown as 0. */
Test(format, stores_that_only_know_the_l1_result_are_formatted)
{
	struct snapshot *snapshot = example_several();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *top = NULL;
	_cleanup_json_ json_object *cgroup = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *shown = NULL;
	struct counters *counters = (struct counters *)snapshot->cgroups[0].counters[2];

	memset(counters->tlb, 0, sizeof(counters->tlb));
	counters->tlb[TLB_NA] = 40;
	counters->locked = 0;
	status = json_status(snapshot);
	top = json_top(snapshot);
	cgroup = json_cgroup(snapshot, 0, NULL);
	text = FORMATTED(format_top(out, status, top, &wide));
	cr_expect_not_null(strstr(text, "/system.slice/db.service      40   80.0  75    25     -     -\n"));
	shown = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	cr_expect_not_null(strstr(shown, "not a count of all stores\n"
					 "    Samples: 40\n"
					 "\n"
					 "SOURCE        SAMPLES  SHARE\n"
					 "l1                 30  75.0%  "),
			   "%s", shown);
}

Test(format, an_event_without_a_sample_is_one_line)
{
	struct snapshot *snapshot = example_several();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *top = NULL;
	_cleanup_free_ char *text = NULL;

	memset(&snapshot->events[2].total, 0, sizeof(snapshot->events[2].total));
	snapshot->cgroups[0].counters[2] = snapshot->cgroups[2].counters[2] = NULL;
	status = json_status(snapshot);
	top = json_top(snapshot);
	text = FORMATTED(format_top(out, status, top, &wide));
	cr_expect_not_null(strstr(text, "not a count of all stores\n"
					"             no sample in this window\n"
					"\n"
					"      Event: instructions"));
}

Test(format, status_shows_multiplexing_pauses_and_filtered_samples)
{
	struct snapshot *snapshot = example_several();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *open_end = NULL;

	snapshot->paused = true;
	snapshot->paused_until.tv_sec = 1795241400;
	for (size_t i = 0; i < snapshot->n_events; i++)
		snapshot->events[i].paused_seconds = (struct maybe_double){true, 12};
	snapshot->events[1].filtered = (struct maybe_u64){true, 3500};
	status = json_status(snapshot);
	text = FORMATTED(format_status(out, status, NULL, &wide));
	cr_expect_not_null(strstr(
		text,
		"\n     Paused: until Sat 2026-11-21 06:10:00 UTC; all counters are free for other tools\n"));
	cr_expect_not_null(strstr(text, "CPUs 0-3, taking turns with stores, counting 62.5% of the time\n"));
	cr_expect_not_null(
		strstr(text, "CPUs 0-3, taking turns with loads:cpu_core, counting 37.5% of the time\n"));
	cr_expect_not_null(strstr(text, "             10 seen, 3,500 filtered; lost: 0 malformed"));
	cr_expect_not_null(
		strstr(text,
		       "    Samples: 725 seen, 0 unattributed; 3,500 filtered (other operations); lost: 0 malformed, 0 unexplained\n"
		       "  Unsampled: 0s throttled, 0s multiplexed, 48s paused (added up over all events and CPUs)\n"),
		"%s", text);
	json_object_put(status);
	snapshot->paused_until.tv_sec = 0;
	status = json_status(snapshot);
	open_end = FORMATTED(format_status(out, status, NULL, &wide));
	cr_expect_not_null(strstr(open_end, "\n     Paused: until `pebsctl resume`; all counters are free"));
}

Test(format, show_marks_guests_and_relates_accesses_to_instructions)
{
	struct snapshot *snapshot = example_several();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *cgroup = NULL;
	_cleanup_free_ char *text = NULL;

	snapshot->events[0].running_ratio.value = 1;
	status = json_status(snapshot);
	cgroup = json_cgroup(snapshot, 1, NULL);
	text = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	cr_expect_not_null(strstr(
		text,
		"\n"
		"      Guest: not sampled: the figures of this virtual machine cover only the host's side\n"));
	/* 5 x 1009 loads per 20 x 2000003 instructions */
	cr_expect_not_null(
		strstr(text,
		       "\n"
		       "   Per 1000: 0.126 sampled loads per thousand instructions; the CPU samples only some loads, and of these only those above ldlat count, so this is not the rate of all loads\n"),
		"%s", text);
}

Test(format, status_shows_the_opener)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *by_opener = NULL;
	_cleanup_json_ json_object *by_itself = NULL;
	_cleanup_free_ char *with = NULL;
	_cleanup_free_ char *without = NULL;

	snapshot->opened_by = "opener";
	by_opener = json_status(snapshot);
	with = FORMATTED(format_status(out, by_opener, NULL, &wide));
	cr_expect_not_null(
		strstr(with, "opened by pebsd-opener.service, because pebsd itself may not open them"), "%s",
		with);
	snapshot->opened_by = "pebsd";
	by_itself = json_status(snapshot);
	without = FORMATTED(format_status(out, by_itself, NULL, &wide));
	cr_expect_null(strstr(without, "opener"), "%s", without);
}

Test(format, status_names_the_other_users_of_the_counters)
{
	static const struct counter_users users = {
		.watchdog = COUNTER_WATCHDOG_CYCLES,
		.n = 2,
		.users = {{.pid = 4711, .events = 12, .name = "perf\033[2J"},
			  {.pid = 1, .events = 8, .name = "systemd"}},
		.more = 3,
		.unread = 1,
		.kvm_pmu = true,
	};
	static const struct counter_users nobody = {0};
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *empty = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *without = NULL;

	snapshot->counter_users = &users;
	status = json_status(snapshot);
	text = FORMATTED(format_status(out, status, NULL, &wide));
	cr_expect_not_null(
		strstr(text,
		       "\n"
		       "   Counters: the NMI watchdog holds one on each CPU (CPU cycles)\n"
		       "             other processes have perf events, which may use counters: perf\\x1b[2J (pid 4711) 12, systemd (pid 1) 8, and 3 more\n"
		       "             virtual machines of KVM use counters if their virtual PMU is in use\n"
		       "             pebsd does not see all processes; to list those that have perf events, run `pebsd --probe` as root\n"),
		"%s", text);
	snapshot->counter_users = &nobody;
	empty = json_status(snapshot);
	without = FORMATTED(format_status(out, empty, NULL, &wide));
	cr_expect_null(strstr(without, "Counters"), "%s", without);
}

Test(format, status_shows_the_caches_of_stripes)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *status = NULL;
	_cleanup_free_ char *text = NULL;

	snapshot->stripes = 16;
	snapshot->stripe_caches = 2;
	snapshot->anonymous_peak_bytes.known = false;
	status = json_status(snapshot);
	text = FORMATTED(format_status(out, status, NULL, &wide));
	cr_expect_not_null(
		strstr(text, "10.0 MiB of BPF maps; 16 stripes per slot, divided among 2 last-level caches\n"
			     "             3.4 MiB in the daemon itself\n"),
		"%s", text);
}

/* The text from the first line that begins with `start`. */
static const char *from_line(const char *text, const char *start)
{
	const char *at = text;

	while (at && strncmp(at, start, strlen(start)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	cr_assert_not_null(at, "no line begins with '%s':\n%s", start, text);
	return at;
}

static void expect_start(const char *text, const char *expected)
{
	_cleanup_free_ char *start = strndup(text, strlen(expected));

	cr_expect_str_eq(start, expected);
}

Test(format, top_shows_the_cost_of_waiting)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_json_ json_object *status = json_status(snapshot);
	_cleanup_json_ json_object *top = json_top(snapshot);
	_cleanup_free_ char *text = FORMATTED(format_top(out, status, top, &narrow));

	formatted_expect_fit(text, 80);
	expect_start(from_line(text, "    Waiting:"),
		     "    Waiting: 2.2 of 8 cores lost to memory, 7.2 used, wait 30.6%, CPI 0.409,\n"
		     "             0.705 misses per thousand instructions, traffic 1.98 GB/s\n");
	expect_start(from_line(text, "CGROUP "),
		     "CGROUP       SAMPLES  LAT%   MEAN    P50    P99 WAIT% CORES SOURCES      HITM%\n"
		     "/checkout         40  88.9    100    100   104?  62.5  2.00 DDDDDDDDDDDD     0\n"
		     "/old               5  11.1    100    100   104?     -     - 333333333333     0\n");
	cr_expect_str_eq(from_line(text, "      Event: cycles"),
			 "      Event: cycles: period 100,000,000; core cycles, estimated as samples x\n"
			 "             period\n"
			 "      Event: instructions: period 100,000,000; retired instructions, estimated\n"
			 "             as samples x period\n"
			 "      Event: stalls: period 100,000,000; cycles in which nothing executes while\n"
			 "             a load is outstanding, estimated as samples x period\n"
			 "      Event: misses: period 100,000; requests that missed L3, with prefetches\n"
			 "             into L1 and L2, estimated as samples x period\n"
			 "\n"
			 "             CORES lost to memory, of those USED; MISS: misses per thousand\n"
			 "             instructions; B/S: bytes a second\n"
			 "\n"
			 "CGROUP       WAIT% CORES  USED   CPI  MISS   B/S\n"
			 "/checkout     62.5  2.00  3.20  2.00  7.50 1.92G\n"
			 "/batch         5.0  0.20  4.00  0.25  0.03 64.0M\n"
			 "\n"
			 "? too few samples for this quantile\n");
}

Test(format, narrow_top_has_waiting_in_a_separate_table)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_json_ json_object *status = json_status(snapshot);
	_cleanup_json_ json_object *top = NULL;
	_cleanup_free_ char *text = NULL;

	snapshot->cgroups[0].path = "/system.slice/a-name-of-some-length.service";
	top = json_top(snapshot);
	text = FORMATTED(format_top(out, status, top, &narrow));
	formatted_expect_fit(text, 80);
	cr_expect_null(strstr(text, "P99 WAIT%"));
	expect_start(from_line(text, "CGROUP                                      WAIT%"),
		     "CGROUP                                      WAIT% CORES  USED   CPI  MISS   B/S\n"
		     "/system.slice/a-name-of-some-length.service  62.5  2.00");
}

Test(format, counts_without_any_figure_of_waiting_keep_their_tables)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_json_ json_object *status = NULL, *top = NULL;
	_cleanup_free_ char *text = NULL;

	snapshot->events[0] = snapshot->events[2];
	for (size_t i = 0; i < 3; i++)
		snapshot->cgroups[i].counters[0] = snapshot->cgroups[i].counters[2];
	snapshot->n_events = 1;
	status = json_status(snapshot);
	top = json_top(snapshot);
	text = FORMATTED(format_top(out, status, top, &narrow));
	expect_start(from_line(text, "CGROUP "), "CGROUP       SAMPLES SHARE%\n"
						 "/checkout        400    9.1\n");
	cr_expect_null(strstr(text, "WAIT%"));
	cr_expect_null(strstr(text, "Waiting"));
}

Test(format, top_marks_figures_of_waiting_with_wide_bounds)
{
	_cleanup_json_ json_object *status = json_status(example_counts()), *top = json_top(example_counts());
	json_object *row = json_object_array_get_idx(json_get_array(top, "cgroups"), 0);
	_cleanup_free_ char *plain = NULL, *marked = NULL;

	plain = FORMATTED(format_top(out, status, top, &wide));
	cr_expect_not_null(strstr(plain, " 62.5  2.00  3.20"), "%s", plain);
	cr_expect_null(strstr(plain, "? in WAIT%"), "%s", plain);
	json_object_object_add(
		row, "waits",
		json_tokener_parse("{'wait':{'value':0.625,'low':0.1,'high':1},'cores_lost':{'value':2,"
				   "'low':1.8,'high':2.2},'confidence':0.95}"));
	marked = FORMATTED(format_top(out, status, top, &wide));
	cr_expect_not_null(strstr(marked, "  62?  2.00     -"), "%s", marked);
	cr_expect_not_null(
		strstr(marked,
		       "\n? at WAIT% and the figures after it: wide bounds; `pebsctl show` prints them\n"),
		"%s", marked);
}

Test(format, show_has_the_cost_of_waiting_and_its_omissions)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_json_ json_object *status = json_status(snapshot);
	_cleanup_json_ json_object *cgroup = json_cgroup(snapshot, 0, NULL);
	json_object *waits = json_get_object(cgroup, "waits");
	json_object *share = json_get_object(waits, "wait"), *lost = json_get_object(waits, "cores_lost");
	_cleanup_free_ char *without = FORMATTED(format_cgroup(out, status, cgroup, NULL, &narrow));
	_cleanup_free_ char *text = NULL;

	formatted_expect_fit(without, 80);
	expect_start(from_line(without, "    Waiting:"),
		     "    Waiting: 62.5% of its cycles are stalled on memory: an upper bound of what\n"
		     "             memory costs\n"
		     "             cores lost to memory: 2, of 3.2 that it uses\n"
		     "             cycles per instruction: 2\n"
		     "             misses per thousand instructions: 7.5\n"
		     "             traffic: 1.92 GB/s, as misses x 64 bytes; it leaves out prefetches\n"
		     "             that are not counted as misses, and lines that are written back\n"
		     "             stalls: cycles in which nothing executes while a load is\n"
		     "             outstanding\n"
		     "  By source: local DRAM 100.0%; an estimate, from the weighted latency of its\n"
		     "             sampled loads\n"
		     "\n"
		     "      Event: loads:");
	expect_start(from_line(without, "      Event: stalls:"),
		     "      Event: stalls: period 100,000,000; cycles in which nothing executes while\n"
		     "             a load is outstanding, estimated as samples x period\n"
		     "    Samples: 250\n"
		     "\n"
		     "      Event: misses:");

	(void)json_object_object_add(waits, "confidence", json_object_new_double(0.95));
	(void)json_object_object_add(share, "low", json_object_new_double(0.55285));
	(void)json_object_object_add(share, "high", json_object_new_double(0.705346));
	(void)json_object_object_add(lost, "low", json_object_new_double(1.796));
	text = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	expect_start(
		from_line(text, "    Waiting:"),
		"    Waiting: 62.5% (bounds 55.3% to 70.5%) of its cycles are stalled on memory: an upper bound of what memory costs\n"
		"             cores lost to memory: 2 (bounds above 1.8), of 3.2 that it uses\n"
		"             cycles per instruction: 2 (no bounds)\n");
	cr_expect_not_null(strstr(text, "\n             each bound at 95% confidence\n"));
}

/* Half of the latency is from each source, but the events have different periods. */
Test(format, split_of_waiting_adds_up_weighted_latency)
{
	_cleanup_json_ json_object *status = json_tokener_parse(
		"{'events':{'a':{'role':'loads'},'b':{'role':'loads'},'c':{'role':'stores'}}}");
	_cleanup_json_ json_object *cgroup = json_tokener_parse(
		"{'cgroup':'/a','waits':{'wait':{'value':0.5}},'events':{'a':{'samples':1,"
		"'latency':{'sum':100,'mean':100},'weighted':{'samples':1,'latency_sum':300},"
		"'sources':{'l3':{'samples':1,'latency_sum':100}}},'b':{'samples':1,"
		"'latency':{'sum':100,'mean':100},'weighted':{'samples':1,'latency_sum':100},"
		"'sources':{'local_dram':{'samples':1,'latency_sum':100}}},'c':{'samples':1,"
		"'latency':{'sum':9,'mean':9},'sources':{'l1':{'samples':1,'latency_sum':9}}}}}");
	_cleanup_free_ char *text = NULL;

	cr_assert(status && cgroup);
	text = FORMATTED(format_cgroup(out, status, cgroup, NULL, &wide));
	expect_start(from_line(text, "  By source:"), "  By source: L3 75.0%, local DRAM 25.0%; an estimate");
}

Test(format, status_lists_counts_as_events_with_one_line_of_totals)
{
	struct snapshot *snapshot = example_counts();
	_cleanup_json_ json_object *status = json_status(snapshot);
	_cleanup_json_ json_object *recent = example_top(snapshot, NULL, 0);
	_cleanup_free_ char *text = FORMATTED(format_status(out, status, recent, &wide));
	_cleanup_free_ char *whole = FORMATTED(format_status(out, status, NULL, &wide));

	expect_start(from_line(text, "      Event: cycles"),
		     "      Event: cycles: period 100,000,000; core cycles, estimated as samples x period\n"
		     "             1,800 seen; lost: 0 malformed, 0 unexplained\n"
		     "             on cpu, CPUs 0-7, counting 100.0% of the time\n"
		     "             its CPUs run at 2.5 GHz while they are busy\n");
	expect_start(
		from_line(text, "      Event: stalls"),
		"      Event: stalls: period 100,000,000; cycles in which nothing executes while a load is outstanding, estimated as samples x period\n"
		"             275 seen; lost: 0 malformed, 0 unexplained\n"
		"             on cpu, CPUs 0-7, counting 50.0% of the time\n");
	expect_start(
		from_line(text, "    Waiting:"),
		"    Waiting: 2.2 of 8 cores lost to memory, 7.2 used, wait 30.6%, CPI 0.409, 0.705 misses per thousand instructions, traffic 1.98 GB/s; in the last 10s\n");
	cr_expect_not_null(strstr(whole, "traffic 1.98 GB/s\n"), "since the start");
}

Test(format, each_kind_of_count_is_described)
{
	static const struct {
		const char *role, *counts, *words;
	} kinds[] = {
		{"stalls", "l1_miss", "a load that missed L1 is outstanding"},
		{"stalls", "retire", "nothing retires while the oldest operation waits"},
		{"misses", "l2", "requests that missed L2"},
		{"misses", "fills", "lines that came from memory into the L1 data cache, estimated"},
		{"misses", "demand_fills", "L1 data cache, without those of hardware prefetches, estimated"},
		{"misses", "unheard-of", "misses of the last cache"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_json_ json_object *status = NULL;
		_cleanup_free_ char *json = NULL, *text = NULL;

		cr_assert_geq(asprintf(&json, "{'events':{'e':{'role':'%s','counts':'%s','measures':[]}}}",
				       kinds[i].role, kinds[i].counts),
			      0);
		status = json_tokener_parse(json);
		text = FORMATTED(format_status(out, status, NULL, &wide));
		cr_expect_not_null(strstr(text, kinds[i].words), "%s", text);
		cr_expect_null(strstr(text, "without latency"), "%s", text);
	}
}
