// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl rules`. */
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/format_event.h"
#include "format/rule_text.h"
#include "format/verdict.h"

#define NAME_WIDTH_MIN 12
#define NAME_WIDTH_MAX 64 /* a longer name gets a line of its own */

/*
 * The columns: the number of cgroups on which a rule is in each state. With several core PMUs a cgroup counts
 * once for each.
 */
static const struct {
	const char *key; /* NULL: unknown, for any reason */
	const char *head;
} counts[] = {
	{"firing", "FIRING"},     {"pending", "PENDING"}, {"resolved", "RESOLVED"},
	{"inactive", "INACTIVE"}, {"ignored", "IGNORED"}, {NULL, "UNKNOWN"},
};

static u64 count_of(json_object *cgroups, size_t column)
{
	u64 n = 0;

	if (!counts[column].key)
		return rule_text_unknown(cgroups);
	(void)json_get_u64(cgroups, counts[column].key, &n);
	return n;
}

static size_t counts_width(void)
{
	size_t width = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		width += 1 + strlen(counts[i].head);
	return width;
}

static void put_counts(FILE *out, json_object *cgroups)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		char text[TEXT_NUMBER_MAX] = "-";

		if (cgroups)
			text_short_count((double)count_of(cgroups, i), text);
		(void)fprintf(out, " %*s", (int)strlen(counts[i].head), text);
	}
	(void)fputc('\n', out);
}

static void put_unknown(FILE *out, const struct format_style *style, json_object *cgroups)
{
	json_object *unknown = json_get_object(cgroups, "unknown");

	if (!unknown)
		return;
	json_object_object_foreach (unknown, reason, count) {
		_cleanup_free_ char *kept = NULL;
		char number[TEXT_NUMBER_MAX];
		u64 n;

		(void)count;
		if (!json_get_u64(unknown, reason, &n) || n == 0)
			continue;
		text_count(n, number);
		line_put(out, style, "Unknown", "on %s cgroup%s: %s", number, n == 1 ? "" : "s",
			 verdict_reason(reason, &kept));
	}
}

static void put_partial(FILE *out, const struct format_style *style, json_object *cgroups)
{
	char number[TEXT_NUMBER_MAX];
	u64 n;

	if (!json_get_u64(cgroups, "partial", &n) || n == 0)
		return;
	text_count(n, number);
	line_put(
		out, style, "In part",
		"%s subtree%s %s judged without the samples of cgroups that have no slot; `pebsctl explain` says of how many",
		number, n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

/* Returns true if the rule needs events that are not sampled, so that it can judge no cgroup. */
static bool put_not_sampled(FILE *out, const struct format_style *style, json_object *rule)
{
	json_object *names = json_get_array(rule, "not_sampled");
	_cleanup_free_ char *list = NULL;

	if (!names || json_object_array_length(names) == 0)
		return false;
	list = line_list(names, " and ");
	line_put(
		out, style, "Unknown",
		"on every cgroup: %s are not sampled here; `pebsctl status` names the events, and pebsd --probe says why some are missing",
		list ? list : "?");
	return true;
}

static void put_rule(FILE *out, const struct format_style *style, json_object *rule, size_t name_width)
{
	json_object *cgroups = json_get_object(rule, "cgroups");
	_cleanup_free_ char *kept = NULL;
	const char *name = line_visible(json_get_text(rule, "rule"), &kept);
	size_t width = text_width(name);
	u64 any = 0;

	(void)fputs(name, out);
	if (width > name_width) {
		(void)fputc('\n', out);
		width = 0;
	}
	(void)fprintf(out, "%*s", (int)(name_width - width), "");
	put_counts(out, cgroups);
	rule_text_put(out, style, rule);
	put_unknown(out, style, cgroups);
	put_partial(out, style, cgroups);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		any += count_of(cgroups, i);
	if (put_not_sampled(out, style, rule) || !cgroups || any > 0)
		return;
	line_put(out, style, "Matches",
		 "none of the cgroups sampled so far; `pebsctl top --window all` lists them");
}

static size_t choose_name_width(const struct format_style *style, json_object *list)
{
	size_t most = style->width > counts_width() ? style->width - counts_width() : 0;
	size_t width = NAME_WIDTH_MIN;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		_cleanup_free_ char *kept = NULL;
		size_t name = text_width(
			line_visible(json_get_text(json_object_array_get_idx(list, i), "rule"), &kept));

		if (name > width)
			width = name;
	}
	if (!style->width || most > NAME_WIDTH_MAX)
		most = NAME_WIDTH_MAX;
	if (width > most)
		width = most > NAME_WIDTH_MIN ? most : NAME_WIDTH_MIN;
	return width;
}

static void put_head(FILE *out, const struct format_style *style, size_t name_width)
{
	char head[256];
	size_t length = (size_t)snprintf(head, sizeof(head), "%-*s", (int)name_width, "RULE");

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		length += (size_t)snprintf(head + length, sizeof(head) - length, " %s", counts[i].head);
	(void)fputc('\n', out);
	line_head(out, style, head);
}

void format_rules(FILE *out, json_object *rules, const struct format_style *style)
{
	json_object *list = json_get_array(rules, "rules");
	const char *replay = json_get_text(rules, "origin");
	_cleanup_free_ char *origin = NULL;
	char number[TEXT_NUMBER_MAX];
	size_t n = list ? json_object_array_length(list) : 0;
	size_t name_width;

	line_put(out, style, "Origin", "%s", format_origin_name(rules, &origin));
	if (!list) {
		line_put(out, style, "Rules", "not known");
		return;
	}
	if (n == 0 && replay && strcmp(replay, "replay") == 0) {
		line_put(
			out, style, "Rules",
			"none: rules are not applied to recordings that are served; `pebsd --test-rules --replay FILE` prints what would have fired");
		return;
	}
	if (n == 0) {
		line_put(
			out, style, "Rules",
			"none, so there are no alerts. To add a rule, write a section [rule NAME] with `cgroup`, `metric` and `above` or `below` (see pebsd.conf(5)) to a file such as /etc/pebsd/pebsd.conf.d/NAME.conf, then run `pebsctl reload`. `pebsctl status` lists the files of the configuration.");
		return;
	}
	text_count(n, number);
	line_put(out, style, "Rules",
		 "%s; for each: the number of cgroups in each state, then the rule itself", number);
	name_width = choose_name_width(style, list);
	put_head(out, style, name_width);
	for (size_t i = 0; i < n; i++) {
		if (i)
			(void)fputc('\n', out);
		put_rule(out, style, json_object_array_get_idx(list, i), name_width);
	}
}
