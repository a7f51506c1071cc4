// SPDX-License-Identifier: GPL-2.0
#include "export/json.h"

#include <string.h>

#include "base/json_get.h"
#include "base/text.h"
#include "base/utf8.h"
#include "export/json_offcore.h"
#include "export/names.h"
#include "window/quantile.h"

json_object *json_name(const char *name)
{
	_cleanup_free_ char *shown = NULL;

	return utf8_show(name, &shown) < 0 ? NULL : json_object_new_string(shown);
}

/* Collects failures, so that each object is built straight on and judged once, at its end. */
struct writer {
	bool failed;
};

static json_object *checked(struct writer *writer, json_object *object)
{
	if (!object)
		writer->failed = true;
	return object;
}

/* Takes `value`. */
static void put(struct writer *writer, json_object *object, const char *key, json_object *value)
{
	if (object && value && json_object_object_add(object, key, value) == 0)
		return;
	json_object_put(value);
	writer->failed = true;
}

/* Takes `value`. */
static void append(struct writer *writer, json_object *array, json_object *value)
{
	if (array && value && json_object_array_add(array, value) == 0)
		return;
	json_object_put(value);
	writer->failed = true;
}

static json_object *finish(const struct writer *writer, json_object *object)
{
	if (!writer->failed)
		return object;
	json_object_put(object);
	return NULL;
}

static void put_u64(struct writer *writer, json_object *object, const char *key, u64 value)
{
	put(writer, object, key, json_object_new_uint64(value));
}

static void put_text(struct writer *writer, json_object *object, const char *key, const char *text)
{
	put(writer, object, key, json_name(text));
}

static void put_number(struct writer *writer, json_object *object, const char *key, double value,
		       int decimals)
{
	char text[400];

	(void)snprintf(text, sizeof(text), "%.*f", decimals, value);
	put(writer, object, key, json_object_new_double_s(value, text));
}

/* Cycles that are no integer, to a tenth: more digits would claim what the hardware does not measure. */
static void put_cycles(struct writer *writer, json_object *object, const char *key, double cycles)
{
	put_number(writer, object, key, cycles, 1);
}

static void put_seconds(struct writer *writer, json_object *object, const char *key, double seconds)
{
	put_number(writer, object, key, seconds, 6);
}

static void put_time(struct writer *writer, json_object *object, const char *key, const struct timespec *time)
{
	char text[TEXT_TIME_MAX];

	if (time->tv_sec == 0)
		return;
	text_time(time, text);
	put_text(writer, object, key, text);
}

/* Counts by name, without those that are 0. */
static void put_counts(struct writer *writer, json_object *object, const char *key, const u64 *counts,
		       const char *const *names, size_t n)
{
	json_object *by_name = checked(writer, json_object_new_object());

	for (size_t i = 0; i < n; i++)
		if (counts[i] && names[i])
			put_u64(writer, by_name, names[i], counts[i]);
	put(writer, object, key, by_name);
}

static void put_quantiles(struct writer *writer, json_object *object, const u64 histogram[FINE_BUCKETS])
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}};

	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		struct quantile quantile;
		json_object *bounds;

		if (quantile_of(histogram, quantiles[i].q, &quantile) < 0)
			return;
		bounds = checked(writer, json_object_new_object());
		put_cycles(writer, bounds, "value", quantile.value);
		put_u64(writer, bounds, "low", quantile.low);
		put_u64(writer, bounds, "high", quantile.high);
		put(writer, object, quantiles[i].name, bounds);
	}
}

static void put_buckets(struct writer *writer, json_object *object, const u64 *buckets, size_t n,
			u32 (*upper)(u32 index))
{
	json_object *list = checked(writer, json_object_new_array());

	for (u32 i = 0; i < n; i++) {
		json_object *bucket;

		if (!buckets[i])
			continue;
		bucket = checked(writer, json_object_new_object());
		put_u64(writer, bucket, "le", upper(i));
		put_u64(writer, bucket, "samples", buckets[i]);
		append(writer, list, bucket);
	}
	put(writer, object, "histogram", list);
}

static void put_latency(struct writer *writer, json_object *object, const struct figures *figures)
{
	u64 samples = figures_latency_samples(figures);
	u64 sum = figures_latency_sum(figures);
	json_object *latency;

	if (!samples)
		return;
	latency = checked(writer, json_object_new_object());
	put_u64(writer, latency, "sum", sum);
	put_cycles(writer, latency, "mean", (double)sum / (double)samples);
	put_quantiles(writer, latency, figures->latency);
	put(writer, object, "latency", latency);
}

static void put_instruction_latency(struct writer *writer, json_object *object, const struct figures *figures,
				    bool detailed)
{
	u64 samples = figures_instruction_latency_samples(figures);
	json_object *latency;

	if (!samples)
		return;
	latency = checked(writer, json_object_new_object());
	put_u64(writer, latency, "samples", samples);
	put_u64(writer, latency, "sum", figures->instruction_latency_sum);
	put_cycles(writer, latency, "mean", (double)figures->instruction_latency_sum / (double)samples);
	if (detailed)
		put_buckets(writer, latency, figures->instruction_latency, COARSE_BUCKETS,
			    histogram_coarse_upper);
	put(writer, object, "instruction_latency", latency);
}

static bool source_has_latency(const struct figures *figures, size_t source)
{
	for (size_t i = 0; i < OCTAVE_BUCKETS; i++)
		if (figures->source_latency[source][i])
			return true;
	return false;
}

static void put_sources(struct writer *writer, json_object *object, const struct figures *figures,
			bool detailed)
{
	json_object *sources = checked(writer, json_object_new_object());

	for (size_t i = 0; i < SOURCE_SLOTS; i++) {
		json_object *source;

		if (!figures->samples[i])
			continue;
		source = checked(writer, json_object_new_object());
		put_u64(writer, source, "samples", figures->samples[i]);
		if (source_has_latency(figures, i)) {
			put_u64(writer, source, "latency_sum", figures->latency_sum[i]);
			if (detailed)
				put_buckets(writer, source, figures->source_latency[i], OCTAVE_BUCKETS,
					    histogram_octave_upper);
		}
		put(writer, sources, source_names[i], source);
	}
	put(writer, object, "sources", sources);
}

static void put_weighted(struct writer *writer, json_object *object, const struct figures *figures)
{
	u64 latency = figures_weighted_latency(figures);
	u64 samples = figures_weight(figures);
	json_object *weighted;

	if (!samples)
		return;
	weighted = checked(writer, json_object_new_object());
	put_u64(writer, weighted, "samples", samples);
	/* A sum that stayed at its end is no longer known. */
	if (figures_latency_samples(figures) && latency != ~0ULL)
		put_u64(writer, weighted, "latency_sum", latency);
	put(writer, object, "weighted", weighted);
}

static json_object *event_object(struct writer *writer, const struct snapshot_event *event,
				 const struct figures *figures, bool detailed)
{
	json_object *object = checked(writer, json_object_new_object());
	const char *kind = event_latency_kind_name(event->event.latency_kind);

	if (event->event.pmu[0])
		put_text(writer, object, "pmu", event->event.pmu);
	if (event->event.ldlat)
		put_u64(writer, object, "ldlat", event->event.ldlat);
	if (kind)
		put_text(writer, object, "latency_kind", kind);
	put_u64(writer, object, "samples", figures_samples(figures));
	put_weighted(writer, object, figures);
	put_latency(writer, object, figures);
	put_instruction_latency(writer, object, figures, detailed);
	if (detailed && figures_latency_samples(figures))
		put_buckets(writer, object, figures->latency, FINE_BUCKETS, histogram_fine_upper);
	if (event->event.settings.has_source) {
		put_sources(writer, object, figures, detailed);
		put_counts(writer, object, "snoop", figures->snoop, snoop_names, SNOOP_SLOTS);
		put_counts(writer, object, "tlb", figures->tlb, tlb_names, TLB_SLOTS);
		put_u64(writer, object, "locked", figures->locked);
		put_u64(writer, object, "blocked", figures->blocked);
	}
	return object;
}

/*
 * What became of the samples of `n` events together. A sum is known where all its parts are. A recording's
 * own losses are not known: only what the replay itself had to leave out is.
 */
static json_object *samples_object(struct writer *writer, const struct snapshot *snapshot,
				   const struct snapshot_event *events, size_t n)
{
	json_object *object = checked(writer, json_object_new_object());
	json_object *lost = checked(writer, json_object_new_object());
	json_object *unsampled = checked(writer, json_object_new_object());
	bool replay = strcmp(snapshot->origin, "replay") == 0;
	struct maybe_u64 unexplained = {.known = n > 0};
	struct maybe_double multiplexed = {.known = n > 0}, throttled = {.known = n > 0};
	u64 seen = 0, unattributed = 0, malformed = 0;

	for (size_t i = 0; i < n; i++) {
		seen += figures_samples(&events[i].total);
		unattributed += events[i].unattributed;
		malformed += events[i].lost_malformed;
		unexplained.known = unexplained.known && events[i].lost_unexplained.known;
		unexplained.value += events[i].lost_unexplained.value;
		multiplexed.known = multiplexed.known && events[i].multiplexed_seconds.known;
		multiplexed.value += events[i].multiplexed_seconds.value;
		throttled.known = throttled.known && events[i].throttled_seconds.known;
		throttled.value += events[i].throttled_seconds.value;
	}

	put_u64(writer, object, "seen", seen);
	put_u64(writer, object, "attributed", seen > unattributed ? seen - unattributed : 0);
	put_u64(writer, object, "unattributed", unattributed);
	if (malformed || !replay)
		put_u64(writer, lost, "malformed", malformed);
	if (unexplained.known)
		put_u64(writer, lost, "unexplained", unexplained.value);
	put(writer, object, "lost", lost);
	if (throttled.known)
		put_seconds(writer, unsampled, "throttled", throttled.value);
	if (multiplexed.known)
		put_seconds(writer, unsampled, "multiplexed", multiplexed.value);
	put(writer, object, "unsampled_seconds", unsampled);
	return object;
}

static json_object *start(struct writer *writer, const struct snapshot *snapshot)
{
	json_object *object = checked(writer, json_object_new_object());

	put_u64(writer, object, "version", JSON_VERSION);
	put_text(writer, object, "origin", snapshot->origin);
	put_time(writer, object, "since", &snapshot->since);
	return object;
}

static void put_window(struct writer *writer, json_object *object, const struct snapshot *snapshot)
{
	if (snapshot->window_seconds.known)
		put_number(writer, object, "window_s", snapshot->window_seconds.value, 3);
	else if (object && json_object_object_add(object, "window_s", NULL) < 0)
		writer->failed = true;
}

/* Takes `value`. The key has the PMU's name in it, which in a replay is a recording's word. */
static void put_event(struct writer *writer, json_object *events, const struct snapshot_event *event,
		      json_object *value)
{
	_cleanup_free_ char *key = NULL;

	if (utf8_show(event->key, &key) < 0) {
		json_object_put(value);
		writer->failed = true;
		return;
	}
	put(writer, events, key, value);
}

static void put_cgroup_events(struct writer *writer, json_object *object, const struct snapshot *snapshot,
			      const struct figures *const *figures, bool detailed)
{
	json_object *events = checked(writer, json_object_new_object());

	for (size_t i = 0; i < snapshot->n_events; i++)
		if (figures[i])
			put_event(writer, events, &snapshot->events[i],
				  event_object(writer, &snapshot->events[i], figures[i], detailed));
	put(writer, object, "events", events);
}

static void put_offcore(struct writer *writer, json_object *object, const struct snapshot *snapshot,
			const struct offcore_figures *figures)
{
	if (figures)
		put(writer, object, "offcore", json_offcore(snapshot, figures));
}

static json_object *total_object(struct writer *writer, const struct snapshot *snapshot)
{
	json_object *object = checked(writer, json_object_new_object());
	const struct figures *totals[EVENTS_MAX] = {NULL};

	for (size_t i = 0; i < snapshot->n_events; i++)
		totals[i] = &snapshot->events[i].total;
	put_cgroup_events(writer, object, snapshot, totals, false);
	put_offcore(writer, object, snapshot, snapshot->offcore_total);
	return object;
}

static json_object *cgroup_object(struct writer *writer, const struct snapshot *snapshot,
				  const struct snapshot_cgroup *cgroup)
{
	json_object *object = checked(writer, json_object_new_object());

	put_text(writer, object, "cgroup", cgroup->path);
	put_u64(writer, object, "id", cgroup->id);
	put_cgroup_events(writer, object, snapshot, cgroup->figures, false);
	put_offcore(writer, object, snapshot, cgroup->offcore);
	return object;
}

static json_object *notes_array(struct writer *writer, const struct snapshot *snapshot)
{
	json_object *notes = checked(writer, json_object_new_array());

	for (const char *const *note = snapshot->notes; note && *note; note++)
		append(writer, notes, json_name(*note));
	return notes;
}

static json_object *top_object(const struct snapshot *snapshot, const size_t *chosen, size_t n)
{
	struct writer writer = {0};
	json_object *object = start(&writer, snapshot);
	json_object *cgroups = checked(&writer, json_object_new_array());

	put_window(&writer, object, snapshot);
	put(&writer, object, "samples",
	    samples_object(&writer, snapshot, snapshot->events, snapshot->n_events));
	put(&writer, object, "total", total_object(&writer, snapshot));
	for (size_t i = 0; i < n; i++)
		append(&writer, cgroups,
		       cgroup_object(&writer, snapshot, &snapshot->cgroups[chosen ? chosen[i] : i]));
	put(&writer, object, "cgroups", cgroups);
	if (snapshot->notes && *snapshot->notes)
		put(&writer, object, "notes", notes_array(&writer, snapshot));
	return finish(&writer, object);
}

json_object *json_top(const struct snapshot *snapshot)
{
	return top_object(snapshot, NULL, snapshot->n_cgroups);
}

json_object *json_top_of(const struct snapshot *snapshot, const size_t *cgroups, size_t n)
{
	static const size_t none[1];

	return top_object(snapshot, cgroups ? cgroups : none, n);
}

static json_object *detail_object(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup)
{
	struct writer writer = {0};
	json_object *object = start(&writer, snapshot);

	put_window(&writer, object, snapshot);
	put_text(&writer, object, "cgroup", cgroup->path);
	put_u64(&writer, object, "id", cgroup->id);
	put(&writer, object, "alive", json_object_new_boolean(cgroup->alive));
	put_cgroup_events(&writer, object, snapshot, cgroup->figures, true);
	put_offcore(&writer, object, snapshot, cgroup->offcore);
	return finish(&writer, object);
}

json_object *json_cgroup(const struct snapshot *snapshot, size_t index)
{
	return detail_object(snapshot, &snapshot->cgroups[index]);
}

json_object *json_cgroup_without_samples(const struct snapshot *snapshot, const char *path, u64 id,
					 bool alive)
{
	return detail_object(snapshot, &(struct snapshot_cgroup){.path = path, .id = id, .alive = alive});
}

static json_object *cpu_object(struct writer *writer, const struct snapshot_cpu *cpu)
{
	json_object *object = checked(writer, json_object_new_object());

	put_u64(writer, object, "cpu", (u64)cpu->cpu);
	put(writer, object, "online", json_object_new_boolean(cpu->online));
	put(writer, object, "in_error", json_object_new_boolean(cpu->in_error));
	put_u64(writer, object, "expected", cpu->expected);
	if (cpu->seen.known)
		put_u64(writer, object, "seen", cpu->seen.value);
	if (cpu->running_ratio.known)
		put_number(writer, object, "running_ratio", cpu->running_ratio.value, 6);
	if (cpu->throttled_seconds.known)
		put_seconds(writer, object, "throttled_seconds", cpu->throttled_seconds.value);
	return object;
}

static void put_per_cpu(struct writer *writer, json_object *object, const struct snapshot_event *event)
{
	json_object *list;

	if (event->n_per_cpu == 0)
		return;
	list = checked(writer, json_object_new_array());
	for (size_t i = 0; i < event->n_per_cpu; i++)
		append(writer, list, cpu_object(writer, &event->per_cpu[i]));
	put(writer, object, "per_cpu", list);
}

static json_object *status_event_object(struct writer *writer, const struct snapshot *snapshot,
					const struct snapshot_event *event)
{
	json_object *object = checked(writer, json_object_new_object());
	const char *kind = event_latency_kind_name(event->event.latency_kind);

	put_text(writer, object, "role", event_role_name(event->event.role));
	if (event->event.pmu[0])
		put_text(writer, object, "pmu", event->event.pmu);
	if (event->event.period)
		put_u64(writer, object, "period", event->event.period);
	if (event->event.ldlat)
		put_u64(writer, object, "ldlat", event->event.ldlat);
	if (kind)
		put_text(writer, object, "latency_kind", kind);
	if (event->cpus[0])
		put_text(writer, object, "cpus", event->cpus);
	if (event->running_ratio.known)
		put_number(writer, object, "running_ratio", event->running_ratio.value, 6);
	if (event->throttles.known)
		put_u64(writer, object, "throttles", event->throttles.value);
	put(writer, object, "samples", samples_object(writer, snapshot, event, 1));
	put_per_cpu(writer, object, event);
	return object;
}

static json_object *config_object(struct writer *writer, const struct snapshot *snapshot)
{
	json_object *object = checked(writer, json_object_new_object());

	put(writer, object, "reloaded", json_object_new_boolean(snapshot->config_reloaded));
	put_time(writer, object, "time", &snapshot->config_time);
	return object;
}

json_object *json_config(const struct snapshot *snapshot)
{
	struct writer writer = {0};
	json_object *object = config_object(&writer, snapshot);

	return finish(&writer, object);
}

json_object *json_status(const struct snapshot *snapshot)
{
	struct writer writer = {0};
	json_object *object = start(&writer, snapshot);
	json_object *events = checked(&writer, json_object_new_object());

	put_time(&writer, object, "taken", &snapshot->taken);
	if (strcmp(snapshot->origin, "replay") == 0)
		put(&writer, object, "replay_done", json_object_new_boolean(snapshot->replay_done));
	for (size_t i = 0; i < snapshot->n_events; i++)
		put_event(&writer, events, &snapshot->events[i],
			  status_event_object(&writer, snapshot, &snapshot->events[i]));
	put(&writer, object, "events", events);
	put(&writer, object, "samples",
	    samples_object(&writer, snapshot, snapshot->events, snapshot->n_events));
	if (snapshot->offcore_known || snapshot->offcore_refusal)
		put(&writer, object, "offcore", json_offcore_status(snapshot));
	put_u64(&writer, object, "cgroups_alive", snapshot->cgroups_alive);
	put_u64(&writer, object, "slots", snapshot->slots);
	put_u64(&writer, object, "slots_free", snapshot->slots_free);
	put_u64(&writer, object, "stripes", snapshot->stripes);
	put_u64(&writer, object, "births_without_slot", snapshot->births_without_slot);
	put_u64(&writer, object, "map_bytes", snapshot->map_bytes);
	put_seconds(&writer, object, "interval_s", snapshot->interval_seconds);
	put_seconds(&writer, object, "collection_s", snapshot->collection_seconds);
	put(&writer, object, "config", config_object(&writer, snapshot));
	put(&writer, object, "notes", notes_array(&writer, snapshot));
	return finish(&writer, object);
}
