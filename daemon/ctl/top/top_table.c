// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "format/format_event.h"
#include "machine/cpu_list.h"

static struct top_number number(double value)
{
	return (struct top_number){.known = true, .value = value};
}

static struct top_number percent(bool known, double part, double whole)
{
	return (struct top_number){.known = known && whole > 0, .value = whole > 0 ? 100 * part / whole : 0};
}

static struct top_number quantile(const json_object *event, const char *name)
{
	struct figure_quantile quantile;

	if (!figure_quantile(event, name, &quantile))
		return (struct top_number){0};
	return (struct top_number){.known = true,
				   .over = quantile.over,
				   .few = quantile.few,
				   .value = quantile.over ? (double)quantile.low : quantile.value};
}

const char *top_event_key(json_object *status, size_t event_index)
{
	json_object *events = json_get_object(status, "events");
	const char *last = NULL;
	size_t i = 0;

	if (!events)
		return NULL;
	json_object_object_foreach (events, key, event) {
		(void)event;
		last = key;
		if (i++ == event_index)
			break;
	}
	return last;
}

/*
 * Returns the length of the window in seconds. It is not known for a whole replay: the samples of a replay have
 * the time of the recording, not of this machine.
 */
static struct top_number seconds_covered(json_object *status, json_object *top)
{
	const char *origin = json_get_text(top, "origin");
	time_t since, taken;
	double seconds;

	if (json_get_double(top, "window_s", &seconds) && seconds > 0)
		return number(seconds);
	if ((origin && strcmp(origin, "replay") == 0) || !json_get_text(top, "since") ||
	    !json_get_text(status, "taken") || text_parse_time(json_get_text(top, "since"), &since) < 0 ||
	    text_parse_time(json_get_text(status, "taken"), &taken) < 0 || taken <= since)
		return (struct top_number){0};
	return number((double)(taken - since));
}

/* Events without a list of CPUs count as if they were on all CPUs. */
static bool share_a_cpu(json_object *a, json_object *b)
{
	const char *one = json_get_text(a, "cpus"), *other = json_get_text(b, "cpus");
	struct cpu_list cpus, others;

	if (!one || !other || cpu_list_parse(one, &cpus) < 0 || cpu_list_parse(other, &others) < 0)
		return true;
	cpu_list_keep(&cpus, &others);
	return cpu_list_count(&cpus) > 0;
}

/* On a hybrid CPU, the events of one kind of core do not cost the other kind any time. */
static struct top_number cost_of(json_object *status)
{
	json_object *events = json_get_object(status, "events");
	struct top_number most = {0};

	if (!events)
		return most;
	json_object_object_foreach (events, key, event) {
		double sum = 0, ratio;

		(void)key;
		if (!json_get_double(json_get_object(event, "cost"), "ratio", &ratio))
			continue;
		json_object_object_foreach (events, other_key, other) {
			(void)other_key;
			if (json_get_double(json_get_object(other, "cost"), "ratio", &ratio) &&
			    share_a_cpu(event, other))
				sum += 100 * ratio;
		}
		if (!most.known || sum > most.value)
			most = number(sum);
	}
	return most;
}

/* Makes a text of the losses that are not 0, with their names; `ret` NULL: none. */
static int read_lost(json_object *lost, char **ret)
{
	_cleanup_json_ json_object *some = json_object_new_object();

	*ret = NULL;
	if (!some)
		return -ENOMEM;
	if (!lost)
		return 0;
	json_object_object_foreach (lost, name, count)
		if (json_object_get_uint64(count) > 0 &&
		    json_object_object_add(some, name, json_object_get(count)) < 0)
			return -ENOMEM;
	if (json_object_object_length(some) == 0)
		return 0;
	*ret = format_counts(some, "");
	return *ret ? 0 : -ENOMEM;
}

static char *about_event(json_object *described)
{
	const char *role = json_get_text(described, "role"), *kind = json_get_text(described, "latency_kind");
	_cleanup_free_ char *kept = NULL;
	char *text = NULL;
	u64 ldlat;

	line_visible(role ? role : "samples", &kept);
	if (waits_counted(described))
		return strdup(waits_counted(described));
	if (figure_measures(described, "latency") && json_get_u64(described, "ldlat", &ldlat))
		return asprintf(&text, "sampled %s above %llu cycles%s", kept ? kept : "?",
				(unsigned long long)ldlat,
				kind && strcmp(kind, "cache") == 0 ? " of instruction latency" : "") < 0
			       ? NULL
			       : text;
	return asprintf(&text, "sampled %s", kept ? kept : "?") < 0 ? NULL : text;
}

static int read_head(json_object *status, json_object *top, struct top_table *table)
{
	json_object *samples = json_get_object(top, "samples");
	struct top_number covered = seconds_covered(status, top);
	_cleanup_free_ char *kept = NULL;
	u64 count;
	int r;

	table->origin = strdup(format_origin_name(top, &kept));
	(void)json_get_bool(status, "paused", &table->paused);
	(void)json_get_u64(status, "alerts_firing", &table->firing);
	table->window.known = json_get_double(top, "window_s", &table->window.value);
	if (covered.known && json_get_u64(samples, "seen", &count))
		table->rate = number((double)count / covered.value);
	if (json_get_u64(samples, "unattributed", &count))
		table->unattributed = number((double)count);
	(void)json_get_u64(top, "without_slot", &table->without_slot);
	table->has_waits = json_get_object(top, "waits") != NULL;
	if (!waits_cores_lost(status, top, table->cores_lost, sizeof(table->cores_lost)))
		table->cores_lost[0] = '\0';
	table->per_second = covered.known;
	table->cost = cost_of(status);
	r = read_lost(json_get_object(samples, "lost"), &table->lost);
	return table->origin ? r : -ENOMEM;
}

static int read_row(struct top_table *table, json_object *cgroup, const json_object *event, double seconds,
		    double all, struct top_row *row)
{
	const char *path = json_get_text(cgroup, "cgroup"), *name = json_get_text(cgroup, "name");
	u64 samples = 0, hitm = 0;
	double value;
	bool known;

	*row = (struct top_row){.name = strdup(path),
				.visible = text_visible(name ? name : path),
				.path = text_visible(path)};
	if (!row->name || !row->visible || !row->path)
		return -ENOMEM;
	(void)json_get_u64(cgroup, "subtree", &row->members);
	(void)json_get_bool(cgroup, "guest_not_sampled", &row->guest);
	if (figure_samples(event, &samples))
		row->samples = number((double)samples / seconds);
	if (table->latency ? figure_latency_sum(event, &value) : figure_weight(event, &value))
		row->share = percent(true, value, all);
	if (figure_mean(event, &value))
		row->mean = number(value);
	row->p50 = quantile(event, "p50");
	row->p99 = quantile(event, "p99");
	row->has_sources = figure_source_groups(event, row->groups);
	known = figure_result(event, "snoop", "hitm", &hitm);
	row->hitm = percent(known, (double)hitm, (double)samples);
	for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
		if (waits_shown(cgroup, which, &value)) {
			row->waits[which] = number(value);
			row->waits[which].few = waits_wide_bounds(cgroup, which);
			table->waits[which] = true;
		}
	row->has_trend = trend_line_read(event, table->latency, &row->trend);
	return 0;
}

static int read_rows(json_object *status, json_object *top, const char *key, struct top_table *table)
{
	json_object *total = json_get_object(json_get_object(json_get_object(top, "total"), "events"), key);
	json_object *cgroups = json_get_array(top, "cgroups");
	size_t n = cgroups ? json_object_array_length(cgroups) : 0;
	struct top_number covered = seconds_covered(status, top);
	double all = 0;

	if (table->latency)
		(void)figure_latency_sum(total, &all);
	else
		(void)figure_weight(total, &all);
	table->rows = calloc(n + 1, sizeof(*table->rows));
	if (!table->rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		json_object *cgroup = json_object_array_get_idx(cgroups, i);
		json_object *event = json_get_object(json_get_object(cgroup, "events"), key);
		int r;

		if (!event || !json_get_text(cgroup, "cgroup"))
			continue;
		r = read_row(table, cgroup, event, covered.known ? covered.value : 1, all,
			     &table->rows[table->n++]);
		if (r < 0)
			return r;
	}
	if (!json_get_u64(top, "matching", &table->matching))
		table->matching = table->n;
	return 0;
}

int top_table_read(json_object *status, json_object *top, size_t event_index, struct top_table *ret)
{
	json_object *events = json_get_object(status, "events");
	const char *key = top_event_key(status, event_index);
	json_object *described = key ? json_get_object(events, key) : NULL;
	struct top_table table = {0};
	int r;

	table.n_events = events ? (size_t)json_object_object_length(events) : 0;
	table.event_index = event_index < table.n_events ? event_index
			    : table.n_events             ? table.n_events - 1
							 : 0;
	table.latency = figure_measures(described, "latency");
	table.sources = figure_measures(described, "source");
	r = read_head(status, top, &table);
	if (r == 0 && key) {
		table.event = text_visible(key);
		table.about = about_event(described);
		r = table.event && table.about ? read_rows(status, top, key, &table) : -ENOMEM;
	}
	if (r < 0) {
		top_table_done(&table);
		return r;
	}
	*ret = table;
	return 0;
}

u64 top_table_rows(const struct top_table *table)
{
	return table->origin ? table->matching : (u64)-1;
}

void top_table_done(struct top_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		free(table->rows[i].name);
		free(table->rows[i].visible);
		free(table->rows[i].path);
	}
	free(table->rows);
	free(table->event);
	free(table->about);
	free(table->origin);
	free(table->lost);
	*table = (struct top_table){0};
}
