// SPDX-License-Identifier: GPL-2.0
/* The query strings of views, and the messages that are made of them. */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "http/server/http_view_request.h"

#define NOW 1795780357ULL

/* Reads pairs of keys and values, which end with NULL. */
static struct http_view_request read_request(enum http_view_kind kind, const char *const *pairs)
{
	struct http_view_request request;

	http_view_begin(&request, kind);
	for (; *pairs; pairs += 2)
		http_view_parameter(&request, pairs[0], pairs[1]);
	(void)http_view_complete(&request, NOW);
	return request;
}

#define READ(kind, ...) read_request(kind, (const char *const[]){__VA_ARGS__, NULL, NULL})

Test(http_view, paths_of_views_are_recognized)
{
	enum http_view_kind kind;

	cr_assert(http_view_of_path("/timeline.json", &kind));
	cr_expect_eq(kind, HTTP_VIEW_TIMELINE);
	cr_assert(http_view_of_path("/zoom.json", &kind));
	cr_expect_eq(kind, HTTP_VIEW_ZOOM);
	cr_expect_not(http_view_of_path("/timeline.json/", &kind));
	cr_assert(http_view_of_path("/top.json", &kind));
	cr_expect_eq(kind, HTTP_VIEW_TOP);
	cr_expect_not(http_view_of_path("/metrics", &kind));
}

Test(http_view, all_parameters_of_a_timeline_are_read)
{
	struct http_view_request request =
		READ(HTTP_VIEW_TIMELINE, "since", "2026-11-27T11:00:00Z", "until", "1795780000", "bins",
		     "360", "offset", "7", "cgroup", "/system.slice/a.service", "histograms", "1");

	cr_expect_str_eq(request.mistake, "");
	cr_expect_eq(request.view.since, 1795777200);
	cr_expect_eq(request.view.until, 1795780000);
	cr_expect_eq(request.view.bins, 360);
	cr_expect_eq(request.view.offset, 7);
	cr_expect(request.view.histograms);
	cr_expect_str_eq(request.view.cgroup, "/system.slice/a.service");
}

Test(http_view, missing_parameters_have_defaults)
{
	struct http_view_request request = READ(HTTP_VIEW_TIMELINE, "since", "1795780000");

	cr_expect_str_eq(request.mistake, "");
	cr_expect_eq(request.view.until, 1795780360, "now, rounded up to 10 s");
	cr_expect_eq(request.view.bins, HTTP_VIEW_BINS_DEFAULT);
	cr_expect_not(request.view.histograms);
	request = READ(HTTP_VIEW_ZOOM, "cgroup", "model:shop");
	cr_expect_str_eq(request.mistake, "");
	cr_expect_eq(request.view.until, 0);
	cr_expect_eq(request.seconds, 0);
	request = READ(HTTP_VIEW_TOP, "match", "a*b");
	cr_expect_str_eq(request.mistake, "");
	cr_expect_str_eq(request.view.cgroup, "a*b");
	cr_expect_eq(request.view.until, 0);
	request = READ(HTTP_VIEW_RANGE, "since", "5", "match", "team=pay");
	cr_expect_str_eq(request.mistake, "");
	cr_expect_str_eq(request.view.cgroup, "team=pay");
	request = READ(HTTP_VIEW_ZOOM, "cgroup", "model:shop", "seconds", "300");
	cr_expect_eq(request.seconds, 300);
}

Test(http_view, invalid_parameters_are_refused_by_name)
{
	static const struct {
		enum http_view_kind kind;
		const char *pairs[5];
		const char *mistake;
	} cases[] = {
		{HTTP_VIEW_TIMELINE, {NULL}, "expected the parameter since"},
		{HTTP_VIEW_RANGE, {"until", "1795780000"}, "expected the parameter since"},
		{HTTP_VIEW_EXPLAIN, {"rule", "a"}, "expected the parameter cgroup"},
		{HTTP_VIEW_EXPLAIN, {"cgroup", "/a"}, "expected the parameter rule"},
		{HTTP_VIEW_RANGE, {"since", "yesterday"}, "since: expected a time"},
		{HTTP_VIEW_RANGE, {"since", "-1"}, "since: expected a time"},
		{HTTP_VIEW_RANGE, {"since", ""}, "since: expected a time"},
		{HTTP_VIEW_RANGE, {"since", "253402300800"}, "since: expected a time"},
		{HTTP_VIEW_RANGE, {"since", "5", "until", "5"}, "`since` to be earlier"},
		{HTTP_VIEW_RANGE, {"since", "1795790000"}, "`since` to be earlier"},
		{HTTP_VIEW_RANGE, {"since", "5", "since", "6"}, "since, until and match, each once"},
		{HTTP_VIEW_RANGE, {"since", "5", "bins", "6"}, "only the parameters since, until and match"},
		{HTTP_VIEW_RANGE, {"since", "5", "match", ""}, "match: expected a text of 1 to 255 bytes"},
		{HTTP_VIEW_RANGE, {"match", "a"}, "expected the parameter since"},
		{HTTP_VIEW_TOP, {NULL}, "expected the parameter match"},
		{HTTP_VIEW_TOP, {"match", ""}, "match: expected a text of 1 to 255 bytes"},
		{HTTP_VIEW_TOP, {"match", "a\n"}, "match: expected"},
		{HTTP_VIEW_TOP, {"match", "\xff"}, "match: expected"},
		{HTTP_VIEW_TOP, {"match", "a%00"}, "only the parameters match"},
		{HTTP_VIEW_TOP, {"match", "a", "match", "b"}, "only the parameters match"},
		{HTTP_VIEW_TOP, {"match", "a", "since", "5"}, "only the parameters match"},
		{HTTP_VIEW_TIMELINE, {"since", "5", "match", "a"}, "only the parameters"},
		{HTTP_VIEW_ALERTS, {"since", NULL}, "with a value"},
		{HTTP_VIEW_TIMELINE,
		 {"since", "5", "bins", "0"},
		 "bins: expected a whole number from 1 to 360"},
		{HTTP_VIEW_TIMELINE, {"since", "5", "bins", "361"}, "bins: expected"},
		{HTTP_VIEW_TIMELINE, {"since", "5", "bins", "+1"}, "bins: expected"},
		{HTTP_VIEW_TIMELINE, {"since", "5", "histograms", "yes"}, "histograms: expected"},
		{HTTP_VIEW_TIMELINE, {"since", "5", "cgroup", ""}, "cgroup: expected the name"},
		{HTTP_VIEW_TIMELINE, {"since", "5", "cgroup", "/\n"}, "cgroup: expected the name"},
		{HTTP_VIEW_TIMELINE, {"since", "5", "cgroup", "/\xff"}, "cgroup: expected the name"},
		{HTTP_VIEW_TIMELINE, {"since", "5", "cgroup", "/%00"}, "only the parameters"},
		{HTTP_VIEW_ZOOM, {"cgroup", "/a", "seconds", "0"}, "seconds: expected"},
		{HTTP_VIEW_ZOOM, {"cgroup", "/a", "seconds", "301"}, "seconds: expected"},
		{HTTP_VIEW_ZOOM, {"cgroup", "/a", "Seconds", "3"}, "only the parameters cgroup and seconds"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_view_request request = read_request(cases[i].kind, cases[i].pairs);

		cr_expect(strstr(request.mistake, cases[i].mistake), "case %zu: %s", i, request.mistake);
	}
}

Test(http_view, names_that_are_too_long_are_refused)
{
	char cgroup[HTTP_VIEW_CGROUP_MAX + 1], rule[HTTP_VIEW_RULE_MAX + 1], match[HTTP_VIEW_MATCH_MAX + 1];
	struct http_view_request request;

	memset(cgroup, 'a', sizeof(cgroup));
	memset(rule, 'a', sizeof(rule));
	cgroup[sizeof(cgroup) - 1] = rule[sizeof(rule) - 1] = '\0';
	request = READ(HTTP_VIEW_EXPLAIN, "rule", "a", "cgroup", cgroup);
	cr_expect(*request.mistake);
	request = READ(HTTP_VIEW_EXPLAIN, "rule", rule, "cgroup", "/a");
	cr_expect(*request.mistake);
	request = READ(HTTP_VIEW_EXPLAIN, "rule", rule + 1, "cgroup", cgroup + 1);
	cr_expect_str_eq(request.mistake, "");
	memset(match, 'a', sizeof(match));
	match[sizeof(match) - 1] = '\0';
	request = READ(HTTP_VIEW_TOP, "match", match);
	cr_expect(*request.mistake);
	cr_expect_str_eq(request.view.cgroup, "");
	request = READ(HTTP_VIEW_TOP, "match", match + 1);
	cr_expect_str_eq(request.mistake, "");
}

Test(http_view, a_view_is_unchanged_by_its_message)
{
	struct http_view views[] = {
		READ(HTTP_VIEW_TIMELINE, "since", "5", "bins", "3", "offset", "2", "histograms", "1",
		     "cgroup", "/a b")
			.view,
		READ(HTTP_VIEW_RANGE, "since", "0", "until", "253402300799").view,
		READ(HTTP_VIEW_RANGE, "since", "5", "match", "a b").view,
		READ(HTTP_VIEW_TOP, "match", "5555").view,
		READ(HTTP_VIEW_ALERTS, "since", "0").view,
		READ(HTTP_VIEW_EXPLAIN, "rule", "slow db", "cgroup", "/a").view,
		READ(HTTP_VIEW_ZOOM, "cgroup", "model:shop").view,
	};

	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		char text[HTTP_VIEW_TEXT_MAX];
		struct http_view read;

		http_view_write(&views[i], text);
		cr_assert_eq(http_view_read(views[i].kind, text, &read), 0, "%s", text);
		cr_expect(read.since == views[i].since && read.until == views[i].until &&
			  read.bins == views[i].bins && read.offset == views[i].offset &&
			  read.histograms == views[i].histograms);
		cr_expect_str_eq(read.rule, views[i].rule);
		cr_expect_str_eq(read.cgroup, views[i].cgroup);
	}
}

/* An attacker may control the process that sends them. */
Test(http_view, invalid_messages_are_refused)
{
	static const struct {
		enum http_view_kind kind;
		const char *text;
	} cases[] = {
		{HTTP_VIEW_RANGE, ""},
		{HTTP_VIEW_RANGE, "5 6 0 0 0"},
		{HTTP_VIEW_RANGE, "5 6 0 0 0\n"},
		{HTTP_VIEW_RANGE, "6 5 0 0 0\n\n"},
		{HTTP_VIEW_RANGE, "5 6 1 0 0\n\n"},
		{HTTP_VIEW_RANGE, "5 6 0 0 1\n\n"},
		{HTTP_VIEW_RANGE, "5 6 0 0 0\nrule\n"},
		{HTTP_VIEW_ALERTS, "5 6 0 0 0\n\n/a"},
		{HTTP_VIEW_TOP, "0 0 0 0 0\n\n"},
		{HTTP_VIEW_TOP, "5 6 0 0 0\n\na"},
		{HTTP_VIEW_TOP, "0 0 0 0 0\nrule\na"},
		{HTTP_VIEW_RANGE, "5  6 0 0 0\n\n"},
		{HTTP_VIEW_RANGE, "-5 6 0 0 0\n\n"},
		{HTTP_VIEW_RANGE, "5 253402300800 0 0 0\n\n"},
		{HTTP_VIEW_RANGE, "5 99999999999999999999999999 0 0 0\n\n"},
		{HTTP_VIEW_TIMELINE, "5 6 0 0 0\n\n"},
		{HTTP_VIEW_TIMELINE, "5 6 361 0 0\n\n"},
		{HTTP_VIEW_TIMELINE, "5 6 1 361 0\n\n"},
		{HTTP_VIEW_TIMELINE, "5 6 1 0 2\n\n"},
		{HTTP_VIEW_EXPLAIN, "0 0 0 0 0\nrule\n"},
		{HTTP_VIEW_EXPLAIN, "0 0 0 0 0\n\n/a"},
		{HTTP_VIEW_EXPLAIN, "6 5 0 0 0\nrule\n/a"},
		{HTTP_VIEW_ZOOM, "0 0 0 0 0\n\n"},
	};
	char text[HTTP_VIEW_TEXT_MAX];
	struct http_view view;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cr_expect_eq(http_view_read(cases[i].kind, cases[i].text, &view), -EBADMSG, "case %zu", i);
	cr_expect_eq(http_view_read(HTTP_VIEW_RANGE, "5 6 0 0 0\n\n", &view), 0);
	/* A search is shorter than a cgroup may be. */
	memset(text, 'a', sizeof(text));
	memcpy(text, "0 0 0 0 0\n\n", 11);
	text[11 + HTTP_VIEW_MATCH_MAX] = '\0';
	cr_expect_eq(http_view_read(HTTP_VIEW_TOP, text, &view), -EBADMSG);
	text[11 + HTTP_VIEW_MATCH_MAX - 1] = '\0';
	cr_expect_eq(http_view_read(HTTP_VIEW_TOP, text, &view), 0);
}

Test(http_view, an_explanation_may_have_a_range)
{
	struct http_view_request present = READ(HTTP_VIEW_EXPLAIN, "rule", "r", "cgroup", "/a");
	struct http_view_request past =
		READ(HTTP_VIEW_EXPLAIN, "rule", "r", "cgroup", "/a", "since", "5", "until", "9");
	struct http_view_request half = READ(HTTP_VIEW_EXPLAIN, "rule", "r", "cgroup", "/a", "until", "9");
	char text[HTTP_VIEW_TEXT_MAX];
	struct http_view view;

	cr_expect_str_eq(present.mistake, "");
	cr_expect(http_view_is_valid(&present.view) && present.view.until == 0);
	cr_expect_str_eq(past.mistake, "");
	http_view_write(&past.view, text);
	cr_assert_eq(http_view_read(HTTP_VIEW_EXPLAIN, text, &view), 0);
	cr_expect(view.since == 5 && view.until == 9);
	cr_expect_str_eq(half.mistake, "expected the parameter since");
	past.view.since = 9;
	cr_expect_not(http_view_is_valid(&past.view));
}
