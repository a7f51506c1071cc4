// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_event.h"

#include <string.h>

#include "base/cleanup.h"
#include "export/json/data_source_names.h"
#include "export/json/per_thousand.h"
#include "window/bounds.h"
#include "window/quantile.h"

const struct json_quantile json_quantiles[JSON_QUANTILES] = {
	{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}};

static void put_quantiles(struct json_writer *writer, json_object *object, const u64 histogram[FINE_BUCKETS],
			  u64 samples)
{
	for (size_t i = 0; i < JSON_QUANTILES; i++) {
		const struct json_quantile *wanted = &json_quantiles[i];
		struct quantile quantile;
		json_object *bucket;

		if (quantile_of(histogram, wanted->q, &quantile) < 0)
			return;
		bucket = json_checked(writer, json_object_new_object());
		json_put_cycles(writer, bucket, "value", quantile.value);
		json_put_u64(writer, bucket, "low", quantile.low);
		json_put_u64(writer, bucket, "high", quantile.high);
		if (samples < bounds_quantile_needs(wanted->q, JSON_CONFIDENCE))
			json_put(writer, bucket, "few", json_object_new_boolean(true));
		json_put(writer, object, wanted->name, bucket);
	}
}

static void put_buckets(struct json_writer *writer, json_object *object, const u64 *buckets, size_t n,
			u32 (*upper)(u32 index))
{
	json_object *list = json_checked(writer, json_object_new_array());

	for (u32 i = 0; i < n; i++) {
		json_object *bucket;

		if (!buckets[i])
			continue;
		bucket = json_checked(writer, json_object_new_object());
		json_put_u64(writer, bucket, "le", upper(i));
		json_put_u64(writer, bucket, "samples", buckets[i]);
		json_append(writer, list, bucket);
	}
	json_put(writer, object, "histogram", list);
}

static void put_latency(struct json_writer *writer, json_object *object, const struct counters *counters)
{
	u64 samples = counters_latency_samples(counters);
	u64 sum = counters_latency_sum(counters);
	json_object *latency;

	if (!samples)
		return;
	latency = json_checked(writer, json_object_new_object());
	if (samples != counters_samples(counters))
		json_put_u64(writer, latency, "samples", samples);
	json_put_u64(writer, latency, "sum", sum);
	json_put_cycles(writer, latency, "mean", (double)sum / (double)samples);
	put_quantiles(writer, latency, counters->latency, samples);
	json_put(writer, object, "latency", latency);
}

static void put_instruction_latency(struct json_writer *writer, json_object *object,
				    const struct counters *counters, bool detailed)
{
	u64 samples = counters_instruction_latency_samples(counters);
	json_object *latency;

	if (!samples)
		return;
	latency = json_checked(writer, json_object_new_object());
	json_put_u64(writer, latency, "samples", samples);
	json_put_u64(writer, latency, "sum", counters->instruction_latency_sum);
	json_put_cycles(writer, latency, "mean", (double)counters->instruction_latency_sum / (double)samples);
	if (detailed)
		put_buckets(writer, latency, counters->instruction_latency, COARSE_BUCKETS,
			    histogram_coarse_upper);
	json_put(writer, object, "instruction_latency", latency);
}

static bool source_has_latency(const struct counters *counters, size_t source)
{
	for (size_t i = 0; i < OCTAVE_BUCKETS; i++)
		if (counters->source_latency[source][i])
			return true;
	return false;
}

static void put_sources(struct json_writer *writer, json_object *object, const struct counters *counters,
			bool detailed)
{
	json_object *sources = json_checked(writer, json_object_new_object());

	for (size_t i = 0; i < SOURCE_SLOTS; i++) {
		json_object *source;

		if (!counters->samples[i])
			continue;
		source = json_checked(writer, json_object_new_object());
		json_put_u64(writer, source, "samples", counters->samples[i]);
		if (source_has_latency(counters, i)) {
			json_put_u64(writer, source, "latency_sum", counters->latency_sum[i]);
			if (detailed)
				put_buckets(writer, source, counters->source_latency[i], OCTAVE_BUCKETS,
					    histogram_octave_upper);
		}
		json_put(writer, sources, source_names[i], source);
	}
	json_put(writer, object, "sources", sources);
}

static void put_weighted(struct json_writer *writer, json_object *object, const struct counters *counters)
{
	u64 latency = counters_weighted_latency(counters);
	u64 samples = counters_weight(counters);
	json_object *weighted;

	if (!samples)
		return;
	weighted = json_checked(writer, json_object_new_object());
	json_put_u64(writer, weighted, "samples", samples);
	/* A sum that reached the largest u64 stays there: its value is not known. */
	if (counters_latency_samples(counters) && latency != ~0ULL)
		json_put_u64(writer, weighted, "latency_sum", latency);
	json_put(writer, object, "weighted", weighted);
}

static void put_flags(struct json_writer *writer, json_object *object, const struct snapshot_event *event,
		      const struct counters *counters)
{
	static const struct {
		const char *key;
		enum flag_known known;
	} flags[] = {
#define FLAG(name, bits, known, ...) {#name, known},
		ACCESS_FLAGS(FLAG)
#undef FLAG
	};
	const bool known[FLAG_KNOWN_COUNT] = {
		[FLAG_KNOWN_WITH_TLB] = counters_samples(counters) > counters->tlb[TLB_NA],
		[FLAG_KNOWN_OF_LOADS] = event->event.role != EVENT_STORES,
	};

	for (size_t i = 0; i < FLAG_COUNT; i++)
		if (known[flags[i].known] || counters->flags[i])
			json_put_u64(writer, object, flags[i].key, counters->flags[i]);
}

static void put_memory(struct json_writer *writer, json_object *object, const struct snapshot_event *event,
		       const struct counters *counters, bool detailed)
{
	put_sources(writer, object, counters, detailed);
	json_put_counts(writer, object, "snoop", counters->snoop, snoop_names, SNOOP_SLOTS);
	json_put_counts(writer, object, "tlb", counters->tlb, tlb_names, TLB_SLOTS);
	put_flags(writer, object, event, counters);
}

static json_object *event_object(struct json_writer *writer, const struct snapshot *snapshot, size_t index,
				 const struct counters *const *all, bool detailed)
{
	const struct snapshot_event *event = &snapshot->events[index];
	const struct counters *counters = all[index];
	json_object *object = json_checked(writer, json_object_new_object());
	const char *kind = event_latency_kind_name(event->event.latency_kind);
	const char *counts = event_count_kind_name(event->event.count_kind);
	double ratio;

	if (event->event.pmu[0])
		json_put_text(writer, object, "pmu", event->event.pmu);
	if (event->event.ldlat)
		json_put_u64(writer, object, "ldlat", event->event.ldlat);
	if (kind)
		json_put_text(writer, object, "latency_kind", kind);
	if (counts)
		json_put_text(writer, object, "counts", counts);
	json_put_u64(writer, object, "samples", counters_samples(counters));
	put_weighted(writer, object, counters);
	if (per_thousand_instructions(snapshot, all, index, &ratio))
		json_put_number(writer, object, "per_thousand_instructions", ratio, 6);
	put_latency(writer, object, counters);
	put_instruction_latency(writer, object, counters, detailed);
	if (detailed && counters_latency_samples(counters))
		put_buckets(writer, object, counters->latency, FINE_BUCKETS, histogram_fine_upper);
	if (event->event.settings.has_source)
		put_memory(writer, object, event, counters, detailed);
	return object;
}

void json_put_events(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
		     const struct counters *const *counters, bool detailed)
{
	json_object *events = json_checked(writer, json_object_new_object());

	for (size_t i = 0; i < snapshot->n_events; i++)
		if (counters[i])
			json_put_shown(writer, events, snapshot->events[i].key,
				       event_object(writer, snapshot, i, counters, detailed));
	json_put(writer, object, "events", events);
}

void json_totals(const struct snapshot *snapshot, const struct counters *ret[EVENTS_MAX])
{
	for (size_t i = 0; i < EVENTS_MAX; i++)
		ret[i] = i < snapshot->n_events ? &snapshot->events[i].total : NULL;
}

/*
 * Adds the sum of a figure over events. A sum is known if all parts are known. Only `filtered` is the sum of the known
 * parts.
 */
static void put_figure(struct json_writer *writer, json_object *object, const struct event_figure *figure,
		       const struct snapshot_event *events, size_t n, bool replay)
{
	const bool any = figure->known == FIGURE_IF_FILTERED;
	struct event_figure_value sum = {.known = n > 0 && !any};

	for (size_t i = 0; i < n; i++) {
		const struct event_figure_value part = event_figure_of(&events[i], figure);

		sum.known = any ? sum.known || part.known : sum.known && part.known;
		sum.count += part.count;
		sum.seconds += part.seconds;
	}
	/* The losses of a recording are not known, except the records that the replay itself left out. */
	if (figure->known == FIGURE_ALWAYS)
		sum.known = sum.count > 0 || !replay;
	if (sum.known && figure->seconds)
		json_put_seconds(writer, object, figure->key, sum.seconds);
	else if (sum.known)
		json_put_u64(writer, object, figure->key, sum.count);
}

void json_put_figures(struct json_writer *writer, json_object *object, enum event_figure_place place,
		      const struct snapshot *snapshot, const struct snapshot_event *events, size_t n)
{
	const bool replay = strcmp(snapshot->origin, "replay") == 0;
	const struct event_figure *figures;
	size_t n_figures;

	figures = event_figures(&n_figures);
	for (size_t i = 0; i < n_figures; i++)
		if (figures[i].place == place)
			put_figure(writer, object, &figures[i], events, n, replay);
}

json_object *json_samples(struct json_writer *writer, const struct snapshot *snapshot,
			  const struct snapshot_event *events, size_t n)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *lost = json_checked(writer, json_object_new_object());
	json_object *unsampled = json_checked(writer, json_object_new_object());
	u64 seen = 0, unattributed = 0;

	for (size_t i = 0; i < n; i++) {
		seen += counters_samples(&events[i].total);
		unattributed += events[i].unattributed;
	}
	json_put_u64(writer, object, "seen", seen);
	json_put_u64(writer, object, "attributed", seen > unattributed ? seen - unattributed : 0);
	json_put_u64(writer, object, "unattributed", unattributed);
	json_put_figures(writer, object, FIGURE_IN_SAMPLES, snapshot, events, n);
	json_put_figures(writer, lost, FIGURE_IN_LOST, snapshot, events, n);
	json_put(writer, object, "lost", lost);
	json_put_figures(writer, unsampled, FIGURE_IN_UNSAMPLED, snapshot, events, n);
	json_put(writer, object, "unsampled_seconds", unsampled);
	return object;
}
