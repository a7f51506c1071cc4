// SPDX-License-Identifier: GPL-2.0
#include "http/shared/http_view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* What a view of a kind has. */
static const struct {
	bool range, bins, cgroup, rule;
	bool range_or_none;
	bool needs_cgroup;
	bool match;
} kinds[HTTP_VIEWS] = {
	[HTTP_VIEW_TIMELINE] = {.range = true, .bins = true, .cgroup = true},
	[HTTP_VIEW_RANGE] = {.range = true, .cgroup = true, .match = true},
	[HTTP_VIEW_TOP] = {.cgroup = true, .needs_cgroup = true, .match = true},
	[HTTP_VIEW_ALERTS] = {.range = true},
	[HTTP_VIEW_EXPLAIN] = {.range_or_none = true, .cgroup = true, .rule = true, .needs_cgroup = true},
	[HTTP_VIEW_ZOOM] = {.cgroup = true, .needs_cgroup = true},
};

bool http_view_is_valid(const struct http_view *view)
{
	const bool given = view->since || view->until;

	if (view->kind >= HTTP_VIEWS)
		return false;
	if (kinds[view->kind].range || (kinds[view->kind].range_or_none && given)
		    ? view->since >= view->until || view->until > HTTP_VIEW_TIME_MAX
		    : given)
		return false;
	if (kinds[view->kind].bins ? view->bins == 0 || view->bins > HTTP_VIEW_BINS_MAX
				   : view->bins || view->offset || view->histograms)
		return false;
	if (view->offset > HTTP_VIEW_BINS_MAX || (view->cgroup[0] && !kinds[view->kind].cgroup))
		return false;
	if (kinds[view->kind].needs_cgroup && !view->cgroup[0])
		return false;
	if (kinds[view->kind].match && strlen(view->cgroup) >= HTTP_VIEW_MATCH_MAX)
		return false;
	return kinds[view->kind].rule == (view->rule[0] != '\0') && !strpbrk(view->rule, "\n");
}

void http_view_write(const struct http_view *view, char ret[static HTTP_VIEW_TEXT_MAX])
{
	(void)snprintf(ret, HTTP_VIEW_TEXT_MAX, "%llu %llu %u %u %u\n%s\n%s", (unsigned long long)view->since,
		       (unsigned long long)view->until, view->bins, view->offset, view->histograms,
		       view->rule, view->cgroup);
}

/* Reads a number that ends with `end`, and moves `text` behind it. */
static int read_number(const char **text, char end, u64 max, u64 *ret)
{
	char number[24];
	const char *stop = strchr(*text, end);
	size_t length = stop ? (size_t)(stop - *text) : 0;

	if (length == 0 || length >= sizeof(number))
		return -EBADMSG;
	memcpy(number, *text, length);
	number[length] = '\0';
	*text = stop + 1;
	return number_parse(number, 0, max, ret) < 0 ? -EBADMSG : 0;
}

int http_view_read(enum http_view_kind kind, const char *text, struct http_view *ret)
{
	u64 bins, offset, histograms;
	size_t length;

	*ret = (struct http_view){.kind = kind};
	if (read_number(&text, ' ', HTTP_VIEW_TIME_MAX, &ret->since) < 0 ||
	    read_number(&text, ' ', HTTP_VIEW_TIME_MAX, &ret->until) < 0 ||
	    read_number(&text, ' ', HTTP_VIEW_BINS_MAX, &bins) < 0 ||
	    read_number(&text, ' ', HTTP_VIEW_BINS_MAX, &offset) < 0 ||
	    read_number(&text, '\n', 1, &histograms) < 0)
		return -EBADMSG;
	ret->bins = (u32)bins;
	ret->offset = (u32)offset;
	ret->histograms = histograms;
	length = strcspn(text, "\n");
	if (text[length] != '\n' || length >= HTTP_VIEW_RULE_MAX ||
	    strlen(text + length + 1) >= HTTP_VIEW_CGROUP_MAX)
		return -EBADMSG;
	memcpy(ret->rule, text, length);
	(void)stpcpy(ret->cgroup, text + length + 1);
	return http_view_is_valid(ret) ? 0 : -EBADMSG;
}
