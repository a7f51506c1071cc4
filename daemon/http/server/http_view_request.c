// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_view_request.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "http/server/http_target.h"
#include "http/shared/http_wire.h"

/* Panes of the history have this length (HISTORY_PANE_SECONDS), which the history's server does not include here. */
#define ROUND_SECONDS 10

enum parameter { SINCE, UNTIL, BINS, OFFSET, HISTOGRAMS, CGROUP, RULE, SECONDS, MATCH, PARAMETERS };

static const char *const names[PARAMETERS] = {
	[SINCE] = "since",   [UNTIL] = "until",           [BINS] = "bins",
	[OFFSET] = "offset", [HISTOGRAMS] = "histograms", [CGROUP] = "cgroup",
	[RULE] = "rule",     [SECONDS] = "seconds",       [MATCH] = "match",
};

#define BIT(parameter) (1U << (parameter))
#define RANGE          (BIT(SINCE) | BIT(UNTIL))

static const struct {
	const char *path;
	unsigned allowed, needed;
	const char *words; /* for messages */
} views[HTTP_VIEWS] = {
	[HTTP_VIEW_TIMELINE] = {"/timeline.json",
				RANGE | BIT(BINS) | BIT(OFFSET) | BIT(CGROUP) | BIT(HISTOGRAMS), BIT(SINCE),
				"since, until, bins, offset, cgroup and histograms"},
	[HTTP_VIEW_RANGE] = {"/range.json", RANGE | BIT(MATCH), BIT(SINCE), "since, until and match"},
	[HTTP_VIEW_TOP] = {"/top.json", BIT(MATCH), BIT(MATCH), "match"},
	[HTTP_VIEW_ALERTS] = {"/alerts.json", RANGE, BIT(SINCE), "since and until"},
	[HTTP_VIEW_EXPLAIN] = {"/explain.json", RANGE | BIT(RULE) | BIT(CGROUP), BIT(RULE) | BIT(CGROUP),
			       "rule, cgroup, since and until"},
	[HTTP_VIEW_ZOOM] = {"/zoom.json", BIT(CGROUP) | BIT(SECONDS), BIT(CGROUP), "cgroup and seconds"},
};

bool http_view_of_path(const char *path, enum http_view_kind *ret)
{
	for (int kind = 0; kind < HTTP_VIEWS; kind++)
		if (strcmp(path, views[kind].path) == 0) {
			*ret = (enum http_view_kind)kind;
			return true;
		}
	return false;
}

void http_view_begin(struct http_view_request *request, enum http_view_kind kind)
{
	*request = (struct http_view_request){.view.kind = kind};
}

#define MISTAKE(request, ...) (void)snprintf((request)->mistake, sizeof((request)->mistake), __VA_ARGS__)

static bool read_time(const char *value, u64 *ret)
{
	time_t seconds;

	if (number_parse(value, 0, HTTP_VIEW_TIME_MAX, ret) == 0)
		return true;
	if (text_parse_time(value, &seconds) < 0 || seconds < 0 || (u64)seconds > HTTP_VIEW_TIME_MAX)
		return false;
	*ret = (u64)seconds;
	return true;
}

static void read_moment(struct http_view_request *request, enum parameter parameter, const char *value,
			u64 *ret)
{
	if (!read_time(value, ret))
		MISTAKE(request, "%s: expected a time, such as 2026-01-31T12:00:00Z, or seconds since 1970",
			names[parameter]);
}

static void read_number(struct http_view_request *request, enum parameter parameter, const char *value,
			u64 min, u64 max, u64 *ret)
{
	if (number_parse(value, min, max, ret) < 0)
		MISTAKE(request, "%s: expected a whole number from %llu to %llu", names[parameter],
			(unsigned long long)min, (unsigned long long)max);
}

static void read_text(struct http_view_request *request, enum parameter parameter, const char *value,
		      size_t room, char *ret)
{
	if (!value[0] || strlen(value) >= room || !utf8_is_valid(value) || strpbrk(value, "\n"))
		MISTAKE(request, "%s: expected the name as /top.json and /alerts.json show it",
			names[parameter]);
	else
		(void)stpcpy(ret, value);
}

static void read_value(struct http_view_request *request, enum parameter parameter, const char *value)
{
	struct http_view *view = &request->view;
	u64 number = 0;

	switch (parameter) {
	case SINCE:
		read_moment(request, parameter, value, &view->since);
		break;
	case UNTIL:
		read_moment(request, parameter, value, &view->until);
		break;
	case BINS:
		read_number(request, parameter, value, 1, HTTP_VIEW_BINS_MAX, &number);
		view->bins = (u32)number;
		break;
	case OFFSET:
		read_number(request, parameter, value, 0, HTTP_VIEW_BINS_MAX, &number);
		view->offset = (u32)number;
		break;
	case HISTOGRAMS:
		read_number(request, parameter, value, 0, 1, &number);
		view->histograms = number;
		break;
	case CGROUP:
		read_text(request, parameter, value, sizeof(view->cgroup), view->cgroup);
		break;
	case RULE:
		read_text(request, parameter, value, sizeof(view->rule), view->rule);
		break;
	case SECONDS:
		read_number(request, parameter, value, 1, HTTP_PROFILE_SECONDS_MAX, &request->seconds);
		break;
	case MATCH:
		if (!value[0] || strlen(value) >= HTTP_VIEW_MATCH_MAX || !utf8_is_valid(value) ||
		    strpbrk(value, "\n"))
			MISTAKE(request, "match: expected a text of 1 to %d bytes", HTTP_VIEW_MATCH_MAX - 1);
		else
			(void)stpcpy(view->cgroup, value);
		break;
	case PARAMETERS:
		break;
	}
}

void http_view_parameter(struct http_view_request *request, const char *key, const char *value)
{
	unsigned allowed = views[request->view.kind].allowed & ~request->given;
	int parameter = 0;

	if (*request->mistake)
		return;
	while (parameter < PARAMETERS && strcmp(key, names[parameter]) != 0)
		parameter++;
	/* An encoded NUL is still "%00" here (HTTP_TARGET_NUL), in a value as well as in a key. */
	if (parameter == PARAMETERS || !(allowed & BIT(parameter)) || !value ||
	    strstr(value, HTTP_TARGET_NUL)) {
		MISTAKE(request, "expected only the parameters %s, each once, with a value",
			views[request->view.kind].words);
		return;
	}
	request->given |= BIT(parameter);
	read_value(request, (enum parameter)parameter, value);
}

bool http_view_complete(struct http_view_request *request, u64 now)
{
	struct http_view *view = &request->view;
	unsigned missing = views[view->kind].needed & ~request->given;

	for (int parameter = 0; parameter < PARAMETERS && !*request->mistake; parameter++)
		if (missing & BIT(parameter))
			MISTAKE(request, "expected the parameter %s", names[parameter]);
	if (*request->mistake)
		return false;
	if (views[view->kind].allowed & BIT(BINS) && view->bins == 0)
		view->bins = HTTP_VIEW_BINS_DEFAULT;
	if (view->kind == HTTP_VIEW_EXPLAIN && request->given & BIT(UNTIL) && !(request->given & BIT(SINCE)))
		MISTAKE(request, "expected the parameter %s", names[SINCE]);
	/* An explanation without a range is about the present. */
	if (request->given & RANGE || views[view->kind].needed & BIT(SINCE)) {
		if (!(request->given & BIT(UNTIL)))
			view->until = (now + ROUND_SECONDS) / ROUND_SECONDS * ROUND_SECONDS;
		if (view->since >= view->until)
			MISTAKE(request, "expected `since` to be earlier than `until`");
	}
	return !*request->mistake;
}
