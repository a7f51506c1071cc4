// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_public.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/utf8.h"
#include "cgroup/container_label.h"
#include "cgroup/short_names.h"
#include "export/json/json.h"
#include "export/json/json_names.h"
#include "export/json/json_past.h"
#include "export/json/json_rules.h"
#include "export/json/json_writer.h"
#include "export/prometheus/alerts_shown.h"
#include "export/prometheus/prometheus_alerts.h"
#include "policy/explain.h"
#include "window/trend.h"

#define PLAIN (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

/* The end of a table: `],"unlisted":N}`. */
#define TAIL_BYTES 64

static int compare_paths(const void *first, const void *second)
{
	return strcmp(*(const char *const *)first, *(const char *const *)second);
}

static bool has_path(const char *const *paths, size_t n, const char *path)
{
	return bsearch(&path, paths, n, sizeof(*paths), compare_paths);
}

static int put_text(const char *text, size_t length, void *userdata)
{
	return fwrite(text, 1, length, userdata) == length ? 0 : -ENOMEM;
}

/* Returns the sorted paths of the series, or NULL if memory is short. */
static const char **sort_paths(const struct series *const *series, size_t n)
{
	const char **paths = calloc(n + 1, sizeof(*paths));

	for (size_t i = 0; paths && i < n; i++)
		paths[i] = series[i]->path;
	if (paths)
		qsort(paths, n, sizeof(*paths), compare_paths);
	return paths;
}

/* Some cgroups of a snapshot. */
struct chosen {
	size_t *list; /* their indexes */
	size_t n;
	size_t others; /* exported cgroups that were not chosen */
	struct short_names *names;
};

static void chosen_done(struct chosen *chosen)
{
	free(chosen->list);
	short_names_free(chosen->names);
}

/* Chooses the cgroups with a series, and the first `top` that are exported. With `only_exported` no others. */
static int choose(const struct snapshot *snapshot, const struct json_public_names *names, size_t top,
		  bool only_exported, struct chosen *chosen)
{
	_cleanup_free_ const char **paths = sort_paths(names->series, names->n_series);
	size_t exported = 0;

	chosen->list = calloc(snapshot->n_cgroups + 1, sizeof(*chosen->list));
	if (!paths || !chosen->list)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->n_cgroups; i++) {
		const char *path = snapshot->cgroups[i].path;
		const bool is_exported = names->exported(path, names->userdata);

		if ((is_exported && exported < top) ||
		    (!only_exported && has_path(paths, names->n_series, path)))
			chosen->list[chosen->n++] = i;
		else
			chosen->others += is_exported;
		exported += is_exported;
	}
	return 0;
}

static int name_chosen(const struct snapshot *snapshot, const struct json_public_labels *labels,
		       struct chosen *chosen)
{
	bool longer = false;
	int r = short_names_new(labels->lookup, labels->labels, &chosen->names);

	for (size_t i = 0; r == 0 && i < chosen->n; i++)
		if (!snapshot->cgroups[chosen->list[i]].alive)
			r = short_names_add_removed(chosen->names, snapshot->cgroups[chosen->list[i]].path,
						    &longer);
	for (size_t i = 0; r == 0 && i < chosen->n; i++)
		if (snapshot->cgroups[chosen->list[i]].alive)
			r = short_names_add(chosen->names, snapshot->cgroups[chosen->list[i]].path, true);
	return r;
}

/* Sets `*ret` if a public label of the cgroup, as LABEL=VALUE, contains the text. */
static int match_labels(const struct snapshot *snapshot, const char *path, unsigned int labels,
			const char *match, bool *ret)
{
	const struct container_lookup *lookup = snapshot->containers;
	const struct container *container = lookup && labels ? lookup->find(lookup->userdata, path) : NULL;

	for (enum container_label label = 0; container && !*ret && label < CONTAINER_LABELS; label++) {
		_cleanup_free_ char *shown = NULL, *text = NULL;

		if (!container->text[label] || !(labels & 1U << label))
			continue;
		if (utf8_show(container->text[label], &shown) < 0)
			return -ENOMEM;
		if (asprintf(&text, "%s=%s", container_label_name(label), shown) < 0) {
			text = NULL;
			return -ENOMEM;
		}
		*ret = strcasestr(text, match);
	}
	return 0;
}

static int match_cgroup(const struct snapshot *snapshot, const char *path, unsigned int labels,
			struct short_names *names, const char *match, bool *ret)
{
	_cleanup_free_ char *shown = NULL;
	const char *name;

	*ret = false;
	if (utf8_show(path, &shown) < 0)
		return -ENOMEM;
	name = short_names_find(names, shown);
	if (!name)
		return -ENOMEM;
	*ret = strcasestr(shown, match) || strcasestr(name, match);
	return *ret ? 0 : match_labels(snapshot, path, labels, match, ret);
}

/* Keeps only the first JSON_PUBLIC_MATCHES_MAX of the chosen cgroups that a search finds. */
static int keep_matching(const struct snapshot *snapshot, unsigned int labels, const char *match,
			 struct chosen *chosen)
{
	size_t n = 0, others = 0;

	for (size_t i = 0; i < chosen->n; i++) {
		bool found;
		int r = match_cgroup(snapshot, snapshot->cgroups[chosen->list[i]].path, labels, chosen->names,
				     match, &found);

		if (r < 0)
			return r;
		if (found && n < JSON_PUBLIC_MATCHES_MAX)
			chosen->list[n++] = chosen->list[i];
		else
			others += found;
	}
	chosen->n = n;
	chosen->others = others;
	return 0;
}

/* Writes the table of the cgroups that are chosen, with their names. `top`, `match`: see json_public.h. */
static int write_table(const struct snapshot *snapshot, const struct json_public_names *names, size_t top,
		       const char *match, struct json_more *more, char **ret_text, size_t *ret_length)
{
	_cleanup_(chosen_done) struct chosen chosen = {0};
	_cleanup_free_ char *text = NULL;
	FILE *out;
	int r = choose(snapshot, names, match ? SIZE_MAX : top, match, &chosen);

	if (r == 0)
		r = name_chosen(snapshot, &names->labels, &chosen);
	if (r == 0 && match)
		r = keep_matching(snapshot, names->labels.labels, match, &chosen);
	if (r < 0)
		return r;
	more->histograms = more->public = true;
	more->bytes_max = JSON_PUBLIC_BYTES_MAX - TAIL_BYTES;
	more->names = chosen.names;
	more->labels = names->labels.labels;
	more->others = chosen.others;
	out = open_memstream(&text, ret_length);
	if (!out)
		return -ENOMEM;
	r = json_write_top(snapshot, chosen.list, chosen.n, more, PLAIN, put_text, out);
	if (fclose(out) != 0)
		r = -ENOMEM;
	if (r < 0)
		return r;
	*ret_text = TAKE_PTR(text);
	return 0;
}

int json_public_top(const struct snapshot *snapshot, const struct json_public_names *names, const char *match,
		    char **ret_text, size_t *ret_length)
{
	struct json_more more = {
		.trend = {.bins = JSON_PUBLIC_TREND_BINS, .bin_ns = TREND_SPAN_NS / JSON_PUBLIC_TREND_BINS},
	};

	return write_table(snapshot, names, 0, match, &more, ret_text, ret_length);
}

/* ---- the past ---- */

const char *json_public_path(const struct json_public_names *names, const struct past *past,
			     const char *shown)
{
	const struct snapshot *snapshot = past ? past_snapshot(past) : NULL;

	for (size_t i = 0; i < names->n_series; i++)
		if (utf8_is_shown_as(names->series[i]->path, shown))
			return names->series[i]->path;
	for (size_t i = 0; snapshot && i < snapshot->n_cgroups; i++) {
		const char *path = snapshot->cgroups[i].path;

		if (utf8_is_shown_as(path, shown) && names->exported(path, names->userdata))
			return path;
	}
	return NULL;
}

int json_public_range(const struct past *past, bool open, const struct json_public_names *names,
		      const char *match, char **ret_text, size_t *ret_length)
{
	const struct snapshot *snapshot = past_snapshot(past);
	struct json_public_names named = *names;
	struct json_more more = {
		.trend = {.bins = JSON_PUBLIC_TREND_BINS,
			  .bin_ns = past_trend_end_ns(past) / JSON_PUBLIC_TREND_BINS,
			  .end_ns = past_trend_end_ns(past)},
		.past = past,
		.past_open = open,
	};

	/* The past has the labels of its time. */
	named.labels.lookup = snapshot->containers;
	return write_table(snapshot, &named, names->top, match, &more, ret_text, ret_length);
}

/* Adds the names of all cgroups. Takes `object`; NULL: memory ran out. */
static int to_text(json_object *object, const struct json_public_labels *labels, char **ret_text,
		   size_t *ret_length)
{
	_cleanup_(short_names_freep) struct short_names *names = NULL;
	const char *text;

	if (short_names_new(labels->lookup, labels->labels, &names) < 0) {
		json_object_put(object);
		return -ENOMEM;
	}
	/* A name becomes longer if another cgroup needs it, so the second time all are final. */
	object = json_add_names(json_add_names(object, names), names);
	text = object ? json_object_to_json_string_length(object, PLAIN, ret_length) : NULL;

	*ret_text = text ? strdup(text) : NULL;
	json_object_put(object);
	return *ret_text ? 0 : -ENOMEM;
}

int json_public_history(const struct json_history *history, struct json_page *page,
			const struct json_public_labels *labels, char **ret_text, size_t *ret_length)
{
	return to_text(json_history(history, page), labels, ret_text, ret_length);
}

/* ---- alerts ---- */

/* The members of an alert that everybody may read. */
static const char *const alert_members[] = {
	"rule",  "cgroup", "event", "severity", "state", "held",     "unknown", "metric",  "unit",
	"value", "worst",  "low",   "high",     "above", "below",    "clear",   "samples", "window_s",
	"for_s", "held_s", "since", "breached", "fired", "resolved", "end",
};

/* Returns a copy with the public members. Other programs can change the file of the history, so types are checked. */
static json_object *public_alert(struct json_writer *writer, json_object *alert)
{
	json_object *object = json_checked(writer, json_object_new_object());

	for (size_t i = 0; i < ARRAY_SIZE(alert_members); i++) {
		json_object *member = json_object_object_get(alert, alert_members[i]);

		if (member && !json_object_is_type(member, json_type_object) &&
		    !json_object_is_type(member, json_type_array))
			json_put(writer, object, alert_members[i], json_object_get(member));
	}
	return object;
}

static bool is_public(json_object *alert)
{
	bool dry_run = false;

	return json_object_is_type(alert, json_type_object) && json_get_text(alert, "rule") &&
	       json_get_text(alert, "cgroup") &&
	       (!json_get(alert, "dry_run") || json_get_bool(alert, "dry_run", &dry_run)) && !dry_run;
}

int json_public_past_alerts(const char *origin, const json_object *alerts, const struct timespec *since,
			    const struct timespec *until, const struct json_public_labels *labels,
			    char **ret_text, size_t *ret_length)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, origin);
	json_object *list = json_checked(&writer, json_object_new_array());
	u64 n = 0;

	for (size_t i = 0; i < json_object_array_length(alerts); i++) {
		json_object *alert = json_object_array_get_idx(alerts, i);

		if (!is_public(alert))
			continue;
		if (n++ < PROMETHEUS_ALERTS_MAX)
			json_append(&writer, list, public_alert(&writer, alert));
	}
	json_put_time(&writer, object, "since", since);
	json_put_time(&writer, object, "until", until);
	json_put(&writer, object, "alerts", list);
	json_put_u64(&writer, object, "unlisted", n > PROMETHEUS_ALERTS_MAX ? n - PROMETHEUS_ALERTS_MAX : 0);
	return to_text(json_finish(&writer, object), labels, ret_text, ret_length);
}

static json_object *copy_texts(struct json_writer *writer, json_object *from)
{
	json_object *texts = json_checked(writer, json_object_new_array());
	size_t n = json_object_is_type(from, json_type_array) ? json_object_array_length(from) : 0;

	for (size_t i = 0; i < n; i++) {
		json_object *text = json_object_array_get_idx(from, i);

		if (json_object_is_type(text, json_type_string))
			json_append(writer, texts, json_object_get(text));
	}
	return texts;
}

/* Returns a copy of the public alerts that json_alerts() or json_explain() listed under `key`. */
static json_object *public_alerts(struct json_writer *writer, json_object *reply, const char *key,
				  bool sentences)
{
	json_object *from = reply ? json_object_object_get(reply, key) : NULL;
	json_object *list = json_checked(writer, json_object_new_array());

	for (size_t i = 0; from && i < json_object_array_length(from); i++) {
		json_object *alert = json_object_array_get_idx(from, i);
		json_object *copy = public_alert(writer, alert);

		if (sentences)
			json_put(writer, copy, "sentences",
				 copy_texts(writer, json_object_object_get(alert, "sentences")));
		json_append(writer, list, copy);
	}
	writer->failed = writer->failed || !from;
	return list;
}

/* Finds the public alert of a rule on a cgroup. Returns its path, or NULL. */
static const char *find_alert(const struct alert *alerts, size_t n, const struct alerts_shown *shown,
			      const char *rule, const char *cgroup)
{
	for (size_t i = 0; i < shown->n; i++)
		if (strcmp(shown->list[i]->rule->name, rule) == 0 &&
		    utf8_is_shown_as(shown->list[i]->cgroup, cgroup))
			return shown->list[i]->cgroup;
	for (size_t i = 0; i < n; i++)
		if (alerts[i].decision.state == ALERT_RESOLVED && !alerts[i].rule->dry_run &&
		    strcmp(alerts[i].rule->name, rule) == 0 && utf8_is_shown_as(alerts[i].cgroup, cgroup))
			return alerts[i].cgroup;
	return NULL;
}

/* Searches linearly, because only a few paths are looked up. */
static bool may_name(const char *path, const struct past *past, const void *userdata)
{
	const struct json_public_names *names = userdata;

	for (size_t i = 0; i < names->n_series; i++)
		if (strcmp(names->series[i]->path, path) == 0)
			return true;
	return past && json_public_path(names, past, path);
}

static json_object *explanation(const char *origin, const struct rule *rule, const struct alert *judged,
				size_t n, json_object *suspects)
{
	static const char *const members[] = {"rule",       "event",    "second_event", "metric",
					      "unit",       "above",    "below",        "clear",
					      "window_s",   "for_s",    "baseline_s",   "min_samples",
					      "confidence", "severity", "subtree"};
	_cleanup_json_ json_object *reply = json_explain(origin, rule, judged, n, suspects);
	struct json_writer writer = {.failed = !reply};
	json_object *object = json_start_of(&writer, origin);
	json_object *of_rule = json_checked(&writer, json_object_new_object());
	json_object *from = reply ? json_object_object_get(reply, "rule") : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		json_object *member = from ? json_object_object_get(from, members[i]) : NULL;

		if (member)
			json_put(&writer, of_rule, members[i], json_object_get(member));
	}
	json_put(&writer, object, "rule", of_rule);
	json_put(&writer, object, "judged", public_alerts(&writer, reply, "judged", true));
	return json_finish(&writer, object);
}

int json_public_explain(const char *origin, const struct policy *policy, const char *rule, const char *shown,
			const struct json_public_names *names, struct json_suspects suspects, char **ret_text,
			size_t *ret_length)
{
	_cleanup_(alerts_shown_done) struct alerts_shown listed = {0};
	_cleanup_free_ struct alert *alerts = NULL, *judged = NULL;
	_cleanup_json_ json_object *sentences = NULL;
	const struct rule *of = policy_rule(policy, rule);
	size_t n = 0, n_judged = 0;
	const char *path = NULL;
	int r = of ? policy_alerts(policy, &alerts, &n) : -ENOENT;

	if (r == 0)
		r = alerts_shown(alerts, n, PROMETHEUS_ALERTS_MAX, &listed);
	if (r == 0)
		path = find_alert(alerts, n, &listed, rule, shown);
	if (r == 0)
		r = path ? policy_explain(policy, rule, path, &judged, &n_judged) : -ENOENT;
	suspects.may_name = may_name;
	suspects.names = names;
	if (r == 0)
		r = json_suspects(&suspects, judged, n_judged, &sentences);
	if (r < 0)
		return r == -ENXIO ? -ENOENT : r;
	return to_text(explanation(origin, of, judged, n_judged, sentences), &names->labels, ret_text,
		       ret_length);
}

int json_public_explain_past(const char *origin, const char *rule, json_object *alerts, time_t since,
			     time_t until, const struct json_public_names *names,
			     struct json_suspects suspects, char **ret_text, size_t *ret_length)
{
	struct json_writer writer = {0};
	_cleanup_json_ json_object *list = json_checked(&writer, json_object_new_array()), *reply = NULL;
	json_object *object;
	int r;

	for (size_t i = 0; list && i < json_object_array_length(alerts); i++) {
		json_object *alert = json_object_array_get_idx(alerts, i);

		/* An older one is null: it is only counted. */
		if (!alert && json_object_array_add(list, NULL) < 0)
			writer.failed = true;
		else if (is_public(alert))
			json_append(&writer, list, json_object_get(alert));
	}
	if (!writer.failed)
		reply = json_explain_past(origin, rule, list,
					  &(struct json_alerts_range){.since_us = (u64)since * 1000000},
					  until);
	suspects.may_name = may_name;
	suspects.names = names;
	r = json_past_suspects(&suspects, reply);
	if (r < 0)
		return r;
	object = json_checked(&writer, json_object_get(reply));
	if (object)
		json_put(&writer, object, "judged", public_alerts(&writer, reply, "judged", true));
	return to_text(json_finish(&writer, object), &names->labels, ret_text, ret_length);
}

static json_object *alerts_object(const char *origin, const struct alerts_shown *shown)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, origin);
	json_object *list = json_checked(&writer, json_object_new_array());

	for (size_t i = 0; i < shown->n; i++) {
		json_object *reply = json_alerts(origin, shown->list[i], 1, NULL);
		json_object *alerts = public_alerts(&writer, reply, "alerts", false);

		json_append(&writer, list,
			    alerts ? json_object_get(json_object_array_get_idx(alerts, 0)) : NULL);
		json_object_put(alerts);
		json_object_put(reply);
	}
	json_put(&writer, object, "alerts", list);
	json_put_u64(&writer, object, "unlisted", shown->unlisted);
	return json_finish(&writer, object);
}

int json_public_alerts(const char *origin, const struct alert *alerts, size_t n,
		       const struct json_public_labels *labels, char **ret_text, size_t *ret_length)
{
	_cleanup_(alerts_shown_done) struct alerts_shown shown = {0};
	int r = alerts_shown(alerts, n, PROMETHEUS_ALERTS_MAX, &shown);

	return r < 0 ? r : to_text(alerts_object(origin, &shown), labels, ret_text, ret_length);
}
