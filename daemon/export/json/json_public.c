// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_public.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/short_names.h"
#include "export/json/json.h"
#include "export/json/json_names.h"
#include "export/json/json_rules.h"
#include "export/json/json_writer.h"
#include "export/prometheus/alerts_shown.h"
#include "export/prometheus/prometheus_alerts.h"
#include "window/trend.h"

#define PLAIN (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

static int compare_paths(const void *first, const void *second)
{
	return strcmp(*(const char *const *)first, *(const char *const *)second);
}

/*
 * Finds the snapshot's cgroups whose path is one of the sorted `paths`. Returns the number of indexes in
 * `ret`.
 */
static size_t choose(const struct snapshot *snapshot, const char *const *paths, size_t n_paths, size_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (bsearch(&snapshot->cgroups[i].path, paths, n_paths, sizeof(*paths), compare_paths))
			ret[n++] = i;
	return n;
}

static int put_text(const char *text, size_t length, void *userdata)
{
	return fwrite(text, 1, length, userdata) == length ? 0 : -ENOMEM;
}

int json_public_top(const struct snapshot *snapshot, const struct series *const *series, size_t n_series,
		    const struct json_public_labels *labels, char **ret_text, size_t *ret_length)
{
	_cleanup_(short_names_freep) struct short_names *names = NULL;
	struct json_more more = {
		.trend = {.bins = JSON_PUBLIC_TREND_BINS, .bin_ns = TREND_SPAN_NS / JSON_PUBLIC_TREND_BINS},
		.histograms = true,
		.public = true,
	};
	_cleanup_free_ const char **paths = calloc(n_series + 1, sizeof(*paths));
	_cleanup_free_ size_t *chosen = calloc(snapshot->n_cgroups + 1, sizeof(*chosen));
	_cleanup_free_ char *text = NULL;
	size_t length, n;
	FILE *out;
	int r;

	if (!paths || !chosen)
		return -ENOMEM;
	for (size_t i = 0; i < n_series; i++)
		paths[i] = series[i]->path;
	qsort(paths, n_series, sizeof(*paths), compare_paths);
	n = choose(snapshot, paths, n_series, chosen);
	r = short_names_new(labels->lookup, labels->labels, &names);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = short_names_add(names, snapshot->cgroups[chosen[i]].path, true);
	if (r < 0)
		return r;
	more.names = names;
	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	r = json_write_top(snapshot, chosen, n, &more, PLAIN, put_text, out);
	if (fclose(out) != 0)
		r = -ENOMEM;
	if (r < 0)
		return r;
	*ret_text = TAKE_PTR(text);
	*ret_length = length;
	return 0;
}

static json_object *alert_object(struct json_writer *writer, const struct alert *alert)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_text(writer, object, "rule", alert->rule->name);
	json_put_text(writer, object, "cgroup", alert->cgroup);
	if (*alert->rule->severity)
		json_put_text(writer, object, "severity", alert->rule->severity);
	json_put_alert_state(writer, object, alert);
	json_put_time(writer, object, "since", &alert->since);
	return object;
}

static json_object *alerts_object(const char *origin, const struct alerts_shown *shown)
{
	struct json_writer writer = {0};
	json_object *object = json_checked(&writer, json_object_new_object());
	json_object *list = json_checked(&writer, json_object_new_array());

	json_put_u64(&writer, object, "version", JSON_VERSION);
	json_put_text(&writer, object, "origin", origin);
	for (size_t i = 0; i < shown->n; i++)
		json_append(&writer, list, alert_object(&writer, shown->list[i]));
	json_put(&writer, object, "alerts", list);
	json_put_u64(&writer, object, "unlisted", shown->unlisted);
	return json_finish(&writer, object);
}

int json_public_alerts(const char *origin, const struct alert *alerts, size_t n,
		       const struct json_public_labels *labels, char **ret_text, size_t *ret_length)
{
	_cleanup_(short_names_freep) struct short_names *names = NULL;
	_cleanup_(alerts_shown_done) struct alerts_shown shown = {0};
	json_object *object;
	const char *text;
	int r = alerts_shown(alerts, n, PROMETHEUS_ALERTS_MAX, &shown);

	if (r == 0)
		r = short_names_new(labels->lookup, labels->labels, &names);
	for (size_t i = 0; r == 0 && i < shown.n; i++)
		r = short_names_add(names, shown.list[i]->cgroup, true);
	if (r < 0)
		return r;
	object = json_add_names(alerts_object(origin, &shown), names);
	text = object ? json_object_to_json_string_length(object, PLAIN, ret_length) : NULL;
	*ret_text = text ? strdup(text) : NULL;
	json_object_put(object);
	return *ret_text ? 0 : -ENOMEM;
}
