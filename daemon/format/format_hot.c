// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl hot`. */
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"
#include "format/format_event.h"
#include "format/location.h"

#define SHARE_WIDTH  13 /* "99.9 - 100.0%" is the longest */
#define SAMPLE_WIDTH 13
#define CODE_LEFT    (SHARE_WIDTH + 1 + SAMPLE_WIDTH + 1)
#define LINE_LEFT    (CODE_LEFT - 1 + 6 + 9)
#define NAME_LEAST   12

static void put_bounds(FILE *out, json_object *item)
{
	char share[LOCATION_BOUNDS_MAX], samples[LOCATION_BOUNDS_MAX];

	location_share_bounds(json_get_object(item, "share"), share);
	location_count_bounds(json_get_object(item, "samples"), samples);
	(void)fprintf(out, "%*s %*s", SHARE_WIDTH, share, SAMPLE_WIDTH, samples);
}

static void put_code(FILE *out, const struct format_style *style, json_object *item)
{
	put_bounds(out, item);
	(void)fputc(' ', out);
	location_put_function(out, style, item, "name", true, location_rest(style, CODE_LEFT, NAME_LEAST));
}

static void put_data(FILE *out, const struct format_style *style, json_object *item)
{
	_cleanup_free_ char *address = NULL, *object = NULL, *name = NULL;
	const char *at = json_get_text(item, "address"), *of = json_get_text(item, "object");
	char cpus[TEXT_NUMBER_MAX] = "-", process[64] = "";
	u64 count, total, pid;

	if (json_get_u64(item, "hitm_cpus", &count) && json_get_u64(item, "cpus", &total))
		(void)snprintf(cpus, sizeof(cpus), "%llu/%llu", (unsigned long long)count,
			       (unsigned long long)total);
	if (json_get_u64(item, "pid", &pid) && pid > 0)
		(void)snprintf(process, sizeof(process), ", process %llu", (unsigned long long)pid);
	if (asprintf(&name, "%s%s%s%s", at ? line_visible(at, &address) : "", at && of ? " " : "",
		     of   ? line_visible(of, &object)
		     : at ? ""
			  : "-",
		     process) < 0)
		name = NULL;
	put_bounds(out, item);
	location_put_count(out, 5, item, "hitm");
	(void)fprintf(out, " %7s ", cpus);
	location_put_start(out, name ? name : "?", location_rest(style, LINE_LEFT, NAME_LEAST));
	(void)fputc('\n', out);
}

/*
 * Prints an upper bound for each item that is not shown. Such an item is not in the table, or beyond the requested
 * rows.
 */
static void put_absent(FILE *out, const struct format_style *style, const json_object *event,
		       const json_object *absent)
{
	bool latency = json_get(event, "latency");
	char number[TEXT_NUMBER_MAX], share[TEXT_NUMBER_MAX], count[TEXT_NUMBER_MAX], more[64] = "";
	const char *key = latency ? "latency" : "samples";
	double most, all;
	u64 samples, left_out;

	if (!json_get_double(absent, key, &most) || !json_get_double(event, key, &all) ||
	    !json_get_u64(absent, "samples", &samples))
		return;
	if (samples == 0) {
		line_put(out, style, NULL, "Nothing else was sampled.");
		return;
	}
	text_count(samples, number);
	line_percent(most, all, share);
	if (json_get_u64(absent, "left_out", &left_out)) {
		text_count(left_out, count);
		(void)snprintf(more, sizeof(more), "; the tables hold %s of them", count);
	}
	line_put(out, style, NULL, "Every line not shown has at most %s (%s sample%s)%s.", share, number,
		 samples == 1 ? "" : "s", more);
}

static void put_list(FILE *out, const struct format_style *style, json_object *event, const char *key)
{
	json_object *items = json_get_array(event, key);
	bool code = strcmp(key, "code") == 0;

	if (!items || json_object_array_length(items) == 0)
		return;
	location_put_head(out, style,
			  code ? "        SHARE       SAMPLES CODE"
			       : "        SHARE       SAMPLES  HITM ON CPUS CACHE LINE");
	for (size_t i = 0; i < json_object_array_length(items); i++) {
		json_object *item = json_object_array_get_idx(items, i);

		if (code)
			put_code(out, style, item);
		else
			put_data(out, style, item);
	}
	put_absent(out, style, event, json_get_object(json_get_object(event, "absent"), key));
}

static void put_event(FILE *out, const struct format_style *style, const char *key, json_object *described,
		      json_object *event)
{
	const char *weight = json_get_text(event, "weight");
	bool by_latency = weight && strcmp(weight, "latency") == 0;
	char count[TEXT_NUMBER_MAX], sum[TEXT_NUMBER_MAX];
	u64 all = 0, latency = 0;

	(void)json_get_u64(event, "samples", &all);
	text_count(all, count);
	(void)fputc('\n', out);
	format_event(out, style, "Event", key, described);
	if (all == 0) {
		line_put(out, style, "Samples", "none since collection began");
		return;
	}
	if (by_latency && json_get_u64(event, "latency", &latency)) {
		text_count(latency, sum);
		line_put(out, style, "Samples", "%s; shares are of their total latency, %s cycles", count,
			 sum);
	} else {
		line_put(out, style, "Samples",
			 "%s; shares are of these samples, because they have no latency", count);
	}
	put_list(out, style, event, "code");
	put_list(out, style, event, "lines");
}

static void put_choice(FILE *out, const struct format_style *style, json_object *hot)
{
	json_object *chosen = json_get_object(hot, "chosen");
	const char *by = json_get_text(chosen, "by"), *until = json_get_text(chosen, "until");
	char since[LINE_TIME_MAX], end[LINE_TIME_MAX], lasting[TEXT_NUMBER_MAX] = "-";
	double seconds;

	if (!chosen)
		return;
	if (json_get_double(chosen, "for_s", &seconds))
		text_span(seconds, lasting);
	(void)line_time(style, json_get_text(chosen, "since"), since);
	line_put(out, style, "Collected", "for %s, since %s, %s%s", lasting, since,
		 by && strcmp(by, "configuration") == 0 ? "by the configuration" : "on request, until ",
		 by && strcmp(by, "configuration") == 0 ? ""
		 : until                                ? line_time(style, until, end)
							: "an unknown time");
}

void format_hot(FILE *out, json_object *status, json_object *hot, const struct format_style *style)
{
	_cleanup_free_ char *origin = NULL;

	line_put_cgroup(out, style, hot, "");
	line_put(out, style, "Origin", "%s", format_origin_name(hot, &origin));
	format_hot_places(out, status, hot, style);
}

void format_hot_places(FILE *out, json_object *status, json_object *hot, const struct format_style *style)
{
	json_object *described = json_get_object(status, "events");
	json_object *events = json_get_object(hot, "events");
	char number[TEXT_NUMBER_MAX];
	u64 unnamed;

	put_choice(out, style, hot);
	line_put(out, style, "Bounds",
		 "the true value lies between the two numbers; if both look the same, only one is shown");
	if (json_get_u64(hot, "unnamed", &unnamed) && unnamed > 0) {
		text_count(unnamed, number);
		line_put(out, style, "Names",
			 "%s address%s not named yet: run `pebsctl hot CGROUP` again soon", number,
			 unnamed == 1 ? " is" : "es are");
	}
	if (!events)
		return;
	json_object_object_foreach (events, key, event)
		put_event(out, style, key, json_get_object(described, key), event);
}
