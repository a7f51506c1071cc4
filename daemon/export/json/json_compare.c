// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collect/packed.h"
#include "estimate/compare.h"
#include "estimate/window_waits.h"
#include "export/json/data_source_names.h"
#include "export/json/json_bounds.h"
#include "export/json/json_writer.h"
#include "snapshot/snapshot_counters.h"

#define DECIMALS 6

/* The quantiles that are compared. More would only take confidence from the others. */
static const struct {
	const char *name;
	double q;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

static const struct {
	const char *name;
	struct metric metric;
} shares[] = {
	{"hitm", {.kind = METRIC_SHARE, .share = METRIC_SHARE_HITM}},
	{"tlb_walk", {.kind = METRIC_SHARE, .share = METRIC_SHARE_TLB_WALK}},
	{"locked", {.kind = METRIC_SHARE, .share = METRIC_SHARE_LOCKED}},
};

void compared_side_take_sums(struct compared_side *side)
{
	side->samples.n_parts = 0;
	for (unsigned event = 0; event < EVENTS_MAX; event++) {
		u8 packed[PACKED_MAX];
		size_t size = packed_of(&side->events[event].counters, packed);

		tally_of(packed, size, &side->samples.sums[event]);
	}
}

static void take_event(const struct snapshot_event *event, const struct counters *counters,
		       struct compare_event *ret)
{
	memcpy(ret->key, event->key, sizeof(ret->key));
	ret->event = event->event;
	ret->sampled = counters != NULL;
	if (counters)
		ret->counters = *counters;
}

/* All cgroups as the members of a sum, so that their samples are found in the window. */
static int list_members(const struct snapshot *snapshot, struct snapshot_cgroup *sum,
			const struct snapshot_cgroup ***ret)
{
	const struct snapshot_cgroup **members = calloc(snapshot->n_cgroups + 1, sizeof(*members));

	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		members[i] = &snapshot->cgroups[i];
	sum->members = members;
	sum->n_members = snapshot->n_cgroups;
	*ret = members;
	return 0;
}

int compared_side_new(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
		      struct compared_side **ret)
{
	_cleanup_(compared_side_freep) struct compared_side *side = calloc(1, sizeof(*side));
	_cleanup_free_ struct snapshot_counters *counters = calloc(1, sizeof(*counters));
	_cleanup_free_ const struct snapshot_cgroup **members = NULL;
	struct snapshot_cgroup all = {0};
	int r;

	if (!side || !counters)
		return -ENOMEM;
	if (cgroup) {
		side->name = strdup(cgroup->path);
		side->subtree = cgroup->n_members > 0;
		snapshot_counters_of(snapshot, cgroup, counters);
	} else {
		for (unsigned event = 0; event < snapshot->n_events; event++)
			counters->of[event] = &snapshot->events[event].total;
	}
	r = cgroup ? side->name ? 0 : -ENOMEM : list_members(snapshot, &all, &members);
	if (r < 0)
		return r;
	side->origin = snapshot->origin;
	side->since = snapshot->since;
	side->taken = snapshot->taken;
	side->seconds = snapshot->window_seconds;
	side->n_events = snapshot->n_events;
	for (unsigned event = 0; event < snapshot->n_events; event++)
		take_event(&snapshot->events[event], counters->of[event], &side->events[event]);
	snapshot_wait_parts(snapshot, counters->of, &side->waits);
	r = json_window_samples(snapshot, cgroup ? cgroup : &all, &side->samples);
	if (r == -ENODATA)
		compared_side_take_sums(side);
	else if (r < 0)
		return r;
	*ret = TAKE_PTR(side);
	return 0;
}

struct compared_side *compared_side_free(struct compared_side *side)
{
	if (!side)
		return NULL;
	free(side->name);
	free(side);
	return NULL;
}

/*
 * The comparison runs twice: first to count the figures, because the confidence of each depends on their number.
 * Then `writer` is NULL.
 */
struct comparing {
	const struct compared_side *a, *b;
	struct json_writer *writer;
	size_t counted;
	double confidence;
};

/* Rounds bounds outwards, so that the true difference lies between the printed ones. */
static double rounded(double value, double (*rounding)(double))
{
	static const double UNIT = 1e6;

	return isfinite(value) ? rounding(value * UNIT) / UNIT : value;
}

static void put_finite(struct json_writer *writer, json_object *object, const char *key, double value)
{
	if (isfinite(value))
		json_put_number(writer, object, key, value, DECIMALS);
}

static const char *const verdicts[COMPARE_VERDICTS] = {
	[COMPARE_NO_VALUE] = "no_value",
	[COMPARE_NO_BOUNDS] = "no_bounds",
	[COMPARE_NOT_PROVEN] = "not_proven",
	[COMPARE_PROVEN] = "proven",
};

/* Adds a figure. Adds nothing if it is known on neither side. */
static void put_figure(struct comparing *comparing, json_object *object, const char *name,
		       const struct compare_side *a, const struct compare_side *b, enum compare_scale scale)
{
	struct json_writer *writer = comparing->writer;
	struct comparison comparison;
	json_object *figure;

	if (!a->known && !b->known)
		return;
	comparing->counted += a->known && b->known;
	if (!writer)
		return;
	compare_sides(a, b, scale, &comparison);
	figure = json_checked(writer, json_object_new_object());
	if (a->known)
		json_put_number(writer, figure, "a", a->value, DECIMALS);
	if (b->known)
		json_put_number(writer, figure, "b", b->value, DECIMALS);
	if (comparison.verdict != COMPARE_NO_VALUE)
		put_finite(writer, figure, "difference", comparison.difference);
	if (comparison.verdict >= COMPARE_NOT_PROVEN) {
		put_finite(writer, figure, "low", rounded(comparison.bounds.low, floor));
		put_finite(writer, figure, "high", rounded(comparison.bounds.high, ceil));
	}
	json_put_text(writer, figure, "verdict", verdicts[comparison.verdict]);
	json_put(writer, object, name, figure);
}

static void put_latencies(struct comparing *comparing, json_object *object, unsigned in_a, unsigned in_b)
{
	struct compare_side a, b;

	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		compare_quantile(&comparing->a->samples, in_a, quantiles[i].q, comparing->confidence, &a);
		compare_quantile(&comparing->b->samples, in_b, quantiles[i].q, comparing->confidence, &b);
		put_figure(comparing, object, quantiles[i].name, &a, &b, COMPARE_RATIO);
	}
	compare_mean(&comparing->a->samples, in_a, comparing->confidence, &a);
	compare_mean(&comparing->b->samples, in_b, comparing->confidence, &b);
	put_figure(comparing, object, "mean", &a, &b, COMPARE_RATIO);
}

static void put_share(struct comparing *comparing, json_object *object, const char *name,
		      const struct metric *metric, unsigned in_a, unsigned in_b)
{
	const struct tally *of_a = &comparing->a->samples.sums[in_a];
	const struct tally *of_b = &comparing->b->samples.sums[in_b];
	struct compare_side a, b;

	/* Omit a class that neither side has. */
	if (estimate_share_count(metric, of_a) == 0 && estimate_share_count(metric, of_b) == 0)
		return;
	compare_share(&comparing->a->samples, in_a, metric, comparing->confidence, &a);
	compare_share(&comparing->b->samples, in_b, metric, comparing->confidence, &b);
	put_figure(comparing, object, name, &a, &b, COMPARE_POINTS);
}

static void put_sources(struct comparing *comparing, json_object *object, unsigned in_a, unsigned in_b)
{
	json_object *sources =
		comparing->writer ? json_checked(comparing->writer, json_object_new_object()) : NULL;

	for (u32 source = 0; source < SOURCE_SLOTS; source++)
		put_share(comparing, sources, source_names[source],
			  &(struct metric){
				  .kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = source},
			  in_a, in_b);
	if (comparing->writer)
		json_put(comparing->writer, object, "sources", sources);
}

/* Adds the number of latencies in each octave, on both sides. */
static void put_octaves(struct json_writer *writer, json_object *object, const struct counters *a,
			const struct counters *b)
{
	u64 of_a[OCTAVE_BUCKETS] = {0}, of_b[OCTAVE_BUCKETS] = {0};
	json_object *list = json_checked(writer, json_object_new_array());

	for (u32 i = 0; i < FINE_BUCKETS; i++) {
		u32 octave = i == FINE_OVERFLOW ? OCTAVE_OVERFLOW
						: histogram_octave_index(histogram_fine_upper(i));

		of_a[octave] += a->latency[i];
		of_b[octave] += b->latency[i];
	}
	for (u32 i = 0; i < OCTAVE_BUCKETS; i++) {
		json_object *bucket;

		if (!of_a[i] && !of_b[i])
			continue;
		bucket = json_checked(writer, json_object_new_object());
		json_put_u64(writer, bucket, "le", histogram_octave_upper(i));
		json_put_u64(writer, bucket, "a", of_a[i]);
		json_put_u64(writer, bucket, "b", of_b[i]);
		json_append(writer, list, bucket);
	}
	json_put(writer, object, "histogram", list);
}

static void put_event(struct comparing *comparing, json_object *events, unsigned in_a, unsigned in_b)
{
	const struct compare_event *a = &comparing->a->events[in_a], *b = &comparing->b->events[in_b];
	struct json_writer *writer = comparing->writer;
	json_object *compared = writer ? json_checked(writer, json_object_new_object()) : NULL;
	const char *kind = event_latency_kind_name(a->event.latency_kind);

	if (writer) {
		if (a->event.ldlat)
			json_put_u64(writer, compared, "ldlat", a->event.ldlat);
		if (kind)
			json_put_text(writer, compared, "latency_kind", kind);
		json_put_u64(writer, compared, "samples_a", counters_samples(&a->counters));
		json_put_u64(writer, compared, "samples_b", counters_samples(&b->counters));
	}
	if (counters_latency_samples(&a->counters) || counters_latency_samples(&b->counters)) {
		json_object *latency = writer ? json_checked(writer, json_object_new_object()) : NULL;

		put_latencies(comparing, latency, in_a, in_b);
		if (writer) {
			json_put(writer, compared, "latency", latency);
			put_octaves(writer, compared, &a->counters, &b->counters);
		}
	}
	if (a->event.settings.has_source) {
		put_sources(comparing, compared, in_a, in_b);
		for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
			put_share(comparing, compared, shares[i].name, &shares[i].metric, in_a, in_b);
	}
	if (writer)
		json_put_shown(writer, events, a->key, compared);
}

/* Returns why samples of the event of both sides differ besides what they measured; NULL: they do not. */
static const char *why_not(const struct event *a, const struct event *b)
{
	if (a->ldlat != b->ldlat)
		return "another latency threshold (ldlat)";
	if (a->latency_kind != b->latency_kind)
		return "another kind of latency";
	if (a->count_kind != b->count_kind)
		return "another count";
	return NULL;
}

static int find_event(const struct compared_side *side, const char *key)
{
	for (unsigned event = 0; event < side->n_events; event++)
		if (strcmp(side->events[event].key, key) == 0)
			return (int)event;
	return -1;
}

/* Samples of counts are compared as waits: the number of samples alone says nothing. */
static bool is_listed(const struct compare_event *event)
{
	return event->event.role == EVENT_LOADS || event->event.role == EVENT_STORES;
}

static void put_note(struct json_writer *writer, json_object *notes, const char *key, const char *why)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s is not compared: one side has %s", key, why) < 0) {
		text = NULL;
		writer->failed = true;
		return;
	}
	json_append(writer, notes, json_name(text));
}

/* Notes the listed events with samples of `side` that the other side lacks. */
static void note_missing(struct json_writer *writer, json_object *notes, const struct compared_side *side,
			 const struct compared_side *other)
{
	for (unsigned i = 0; i < side->n_events; i++) {
		const struct compare_event *event = &side->events[i];

		if (is_listed(event) && event->sampled && find_event(other, event->key) < 0)
			put_note(writer, notes, event->key, "no such event");
	}
}

static void put_events(struct comparing *comparing, json_object *object, json_object *notes)
{
	struct json_writer *writer = comparing->writer;
	json_object *events = writer ? json_checked(writer, json_object_new_object()) : NULL;

	for (unsigned event = 0; event < comparing->a->n_events; event++) {
		const struct compare_event *a = &comparing->a->events[event];
		int other = find_event(comparing->b, a->key);
		const char *why = other < 0 ? NULL : why_not(&a->event, &comparing->b->events[other].event);

		if (other < 0 || !is_listed(a) || (!a->sampled && !comparing->b->events[other].sampled))
			continue;
		if (!why)
			put_event(comparing, events, event, (unsigned)other);
		else if (writer)
			put_note(writer, notes, a->key, why);
	}
	if (!writer)
		return;
	json_put(writer, object, "events", events);
	note_missing(writer, notes, comparing->a, comparing->b);
	note_missing(writer, notes, comparing->b, comparing->a);
}

/* A rate needs a known time, and counts of other things on the sides cannot be compared. */
static bool is_comparable(const struct comparing *comparing, enum wait_figure figure)
{
	if (wait_figure_is_rate(figure) && !(comparing->a->waits.timed && comparing->b->waits.timed))
		return false;
	for (unsigned event = 0; event < comparing->a->n_events; event++) {
		const struct compare_event *a = &comparing->a->events[event];
		int other = find_event(comparing->b, a->key);

		if (!is_listed(a) && other >= 0 && why_not(&a->event, &comparing->b->events[other].event))
			return false;
	}
	return true;
}

static void put_waits(struct comparing *comparing, json_object *object)
{
	const struct compared_side *sides[] = {comparing->a, comparing->b};
	struct wait_value values[2][WAIT_FIGURES];
	json_object *waits = NULL;

	for (size_t i = 0; i < 2; i++)
		window_waits_of(&sides[i]->samples, sides[i]->waits.events, sides[i]->waits.parts,
				sides[i]->waits.n, comparing->confidence, values[i]);
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		struct compare_side a, b;

		if (!is_comparable(comparing, figure) ||
		    (!values[0][figure].known && !values[1][figure].known))
			continue;
		if (comparing->writer && !waits)
			waits = json_checked(comparing->writer, json_object_new_object());
		compare_wait(&sides[0]->samples, figure, &values[0][figure], &a);
		compare_wait(&sides[1]->samples, figure, &values[1][figure], &b);
		put_figure(comparing, waits, wait_figure_name(figure), &a, &b, compare_wait_scale(figure));
	}
	if (waits)
		json_put(comparing->writer, object, "waits", waits);
}

static json_object *side_object(struct json_writer *writer, const struct compared_side *side,
				json_object *extra)
{
	json_object *object = json_checked(writer, json_object_new_object());

	if (side->name)
		json_put(writer, object, "cgroup", json_name(side->name));
	if (side->subtree)
		json_put(writer, object, "subtree", json_object_new_boolean(true));
	json_put_time(writer, object, "since", &side->since);
	json_put_time(writer, object, "taken", &side->taken);
	if (side->seconds.known)
		json_put_number(writer, object, "window_s", side->seconds.value, 3);
	if (extra) {
		json_object_object_foreach (extra, key, value)
			json_put(writer, object, key, json_object_get(value));
		json_object_put(extra);
	}
	return object;
}

static void compare_all(struct comparing *comparing, json_object *object, json_object *notes)
{
	put_events(comparing, object, notes);
	put_waits(comparing, object);
}

json_object *json_compare(const struct compared_side *a, const struct compared_side *b, json_object *extra_a,
			  json_object *extra_b)
{
	struct comparing comparing = {.a = a, .b = b, .confidence = compare_confidence(1)};
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, a->origin);
	json_object *notes = json_checked(&writer, json_object_new_array());
	size_t n;

	compare_all(&comparing, NULL, NULL);
	n = comparing.counted;
	json_put_number(&writer, object, "confidence", COMPARE_CONFIDENCE, 2);
	json_put_u64(&writer, object, "comparisons", n);
	json_put(&writer, object, "a", side_object(&writer, a, extra_a));
	json_put(&writer, object, "b", side_object(&writer, b, extra_b));
	comparing.writer = &writer;
	comparing.confidence = compare_confidence(n);
	compare_all(&comparing, object, notes);
	json_put(&writer, object, "notes", notes);
	return json_finish(&writer, object);
}
