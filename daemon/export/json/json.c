// SPDX-License-Identifier: GPL-2.0
#include "export/json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "export/json/json_bounds.h"
#include "export/json/json_event.h"
#include "export/json/json_names.h"
#include "export/json/json_offcore.h"
#include "export/json/json_past.h"
#include "export/json/json_waits.h"
#include "snapshot/snapshot_counters.h"
#include "window/trend.h"

static void put_offcore(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
			const struct offcore_counts *counters)
{
	if (counters)
		json_put(writer, object, "offcore", json_offcore(writer, snapshot, counters));
}

static json_object *total_object(struct json_writer *writer, const struct snapshot *snapshot,
				 const struct counters *const *totals)
{
	json_object *object = json_checked(writer, json_object_new_object());

	json_put_events(writer, object, snapshot, totals, false);
	put_offcore(writer, object, snapshot, snapshot->offcore_total);
	return object;
}

/* Adds nothing unless the cgroup holds a virtual machine whose guest accesses are not sampled. */
static void put_guest(struct json_writer *writer, json_object *object, const struct snapshot_cgroup *cgroup)
{
	if (cgroup->guest_not_sampled)
		json_put(writer, object, "guest_not_sampled", json_object_new_boolean(1));
}

/*
 * Adds the labels of `wanted` (bits) that the container has; nothing if it has none of them, or if the path is not that
 * of a known container.
 */
static void put_labels(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
		       const char *path, unsigned int wanted)
{
	const struct container_lookup *lookup = snapshot->containers;
	const struct container *container = lookup ? lookup->find(lookup->userdata, path) : NULL;
	json_object *labels = NULL;

	for (enum container_label label = 0; container && label < CONTAINER_LABELS; label++) {
		if (!container->text[label] || !(wanted & 1U << label))
			continue;
		labels = labels ? labels : json_checked(writer, json_object_new_object());
		json_put_text(writer, labels, container_label_name(label), container->text[label]);
	}
	if (labels)
		json_put(writer, object, "labels", labels);
}

/* Adds nothing unless the counters are the sum of a subtree. */
static void put_subtree(struct json_writer *writer, json_object *object, const struct snapshot_cgroup *cgroup)
{
	if (cgroup->n_members > 0)
		json_put_u64(writer, object, "subtree", cgroup->n_members);
	if (cgroup->without_slot > 0)
		json_put_u64(writer, object, "subtree_without_slot", cgroup->without_slot);
}

/* `i` is the cgroup's number in `rows`, which adds its bounds; NULL: no bounds. */
static json_object *cgroup_object(struct json_writer *writer, const struct snapshot *snapshot,
				  const struct snapshot_cgroup *cgroup, const struct json_more *more,
				  struct json_rows *rows, size_t i, struct snapshot_counters *counters)
{
	json_object *object = json_checked(writer, json_object_new_object());
	const struct counters *listed[EVENTS_MAX];

	snapshot_counters_of(snapshot, cgroup, counters);
	json_put_text(writer, object, "cgroup", cgroup->path);
	/* Public data has nothing beyond the metrics of the default configuration. */
	if (!more || !more->public) {
		json_put_u64(writer, object, "id", cgroup->id);
		put_labels(writer, object, snapshot, cgroup->path, ~0U);
	} else if (more->labels) {
		put_labels(writer, object, snapshot, cgroup->path, more->labels);
	}
	put_guest(writer, object, cgroup);
	put_subtree(writer, object, cgroup);
	for (size_t event = 0; event < EVENTS_MAX; event++)
		listed[event] = snapshot->unlisted >> event & 1 ? NULL : counters->of[event];
	json_put_events(writer, object, snapshot, listed, more && more->histograms);
	json_put_waits(writer, object, snapshot, counters->of);
	if (rows)
		json_rows_put(writer, object, rows, i, counters->of);
	put_offcore(writer, object, snapshot, cgroup->offcore);
	return object;
}

/* Returns an object with the members that precede the list of cgroups. */
static json_object *head_object(struct json_writer *writer, const struct snapshot *snapshot,
				struct json_rows *rows)
{
	json_object *object = json_start(writer, snapshot);
	const struct counters *totals[EVENTS_MAX];

	json_totals(snapshot, totals);
	json_put_window(writer, object, snapshot);
	json_put(writer, object, "samples",
		 json_samples(writer, snapshot, snapshot->events, snapshot->n_events));
	json_put(writer, object, "total", total_object(writer, snapshot, totals));
	json_put_waits(writer, object, snapshot, totals);
	if (rows)
		json_rows_put_total(writer, object, rows, totals);
	if (snapshot->without_slot > 0)
		json_put_u64(writer, object, "without_slot", snapshot->without_slot);
	return object;
}

json_object *json_top(const struct snapshot *snapshot)
{
	_cleanup_free_ struct snapshot_counters *counters = malloc(sizeof(*counters));
	_cleanup_(json_rows_clear) struct json_rows rows = {.snapshot = snapshot, .n = snapshot->n_cgroups};
	struct json_writer writer = {.failed = !counters};
	json_object *object = head_object(&writer, snapshot, &rows);
	json_object *cgroups = json_checked(&writer, json_object_new_array());

	for (size_t i = 0; i < snapshot->n_cgroups && counters; i++)
		json_append(
			&writer, cgroups,
			cgroup_object(&writer, snapshot, &snapshot->cgroups[i], NULL, &rows, i, counters));
	json_put_recordings(&writer, object, snapshot);
	json_put(&writer, object, "cgroups", cgroups);
	if (snapshot->notes && *snapshot->notes)
		json_put(&writer, object, "notes", json_notes(&writer, snapshot));
	return json_finish(&writer, object);
}

struct text_sink {
	int flags;
	json_sink put;
	void *userdata;
	size_t bytes;     /* written so far */
	size_t bytes_max; /* of all cgroups and what precedes them; 0: no limit */
	bool full;        /* a cgroup did not fit */
};

static int put_bytes(struct text_sink *sink, const char *text, size_t length)
{
	sink->bytes += length;
	return sink->put(text, length, sink->userdata);
}

/* Writes the text of `object` without the last `cut` bytes. Takes `object`. */
static int put_object(struct text_sink *sink, struct json_writer *writer, json_object *object, size_t cut)
{
	json_object *whole = json_finish(writer, object);
	size_t length;
	const char *text;
	int r = -ENOMEM;

	text = whole ? json_object_to_json_string_length(whole, sink->flags, &length) : NULL;
	if (text)
		r = put_bytes(sink, text, length - cut);
	json_object_put(whole);
	return r;
}

static int put_literal(struct text_sink *sink, const char *text)
{
	return put_bytes(sink, text, strlen(text));
}

/* Members whose trends are read together. */
#define TOGETHER 256

static void add_members(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup, unsigned event,
			struct trend_bins *bins)
{
	u32 entries[TOGETHER];
	size_t n;

	trend_cover(snapshot->trend, bins);
	if (cgroup->n_members == 0)
		trend_add(snapshot->trend, &cgroup->entry, 1, event, bins);
	for (size_t i = 0; i < cgroup->n_members; i += n) {
		for (n = 0; n < TOGETHER && i + n < cgroup->n_members; n++)
			entries[n] = cgroup->members[i + n]->entry;
		trend_add(snapshot->trend, entries, n, event, bins);
	}
}

static json_object *short_number(struct json_writer *writer, double value)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%.6g", value);
	return json_checked(writer, json_object_new_double_s(value, text));
}

/* The samples of a bin. Those of the past are parts of collections. */
static json_object *samples_number(struct json_writer *writer, const struct trend_bins *bins, size_t index)
{
	const struct trend_bin *bin = &bins->bins[index];

	if (!bin->covered)
		return NULL;
	if (!bins->end_ns)
		return json_checked(writer, json_object_new_uint64((u64)bin->samples));
	return short_number(writer, bin->samples);
}

static void put_covered(struct json_writer *writer, json_object *object, const struct trend_bins *bins)
{
	json_object *covered = json_checked(writer, json_object_new_array());

	for (size_t i = 0; i < bins->n; i++)
		json_append(writer, covered,
			    short_number(writer, bins->bins[i].covered_ns / (double)NSEC_PER_SEC));
	json_put(writer, object, "covered_s", covered);
}

/* A bin is null if nothing is known: no collection for `samples`, no sample with a latency for `mean`. */
static json_object *trend_object(struct json_writer *writer, const struct trend_bins *bins)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *samples = json_checked(writer, json_object_new_array());
	json_object *mean = json_checked(writer, json_object_new_array());
	json_object *number;
	char text[48];

	json_put_seconds(writer, object, "bin_s", (double)bins->bin_ns / (double)NSEC_PER_SEC);
	for (size_t i = 0; i < bins->n; i++) {
		const struct trend_bin *bin = &bins->bins[i];

		if (json_object_array_add(samples, samples_number(writer, bins, i)) < 0)
			writer->failed = true;
		number = NULL;
		if (bin->latency_samples > 0) {
			double cycles = bin->latency / bin->latency_samples;

			(void)snprintf(text, sizeof(text), "%.1f", cycles);
			number = json_checked(writer, json_object_new_double_s(cycles, text));
		}
		if (json_object_array_add(mean, number) < 0)
			writer->failed = true;
	}
	json_put(writer, object, "samples", samples);
	json_put(writer, object, "mean", mean);
	if (bins->end_ns)
		put_covered(writer, object, bins);
	return object;
}

/* Adds "trend" to each event of a cgroup's "events" if trends are kept. A subtree gets the sum of the trends. */
static void put_trends(struct json_writer *writer, json_object *cgroup_object,
		       const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
		       const struct json_trend *wanted)
{
	json_object *events = json_object_object_get(cgroup_object, "events");

	if (!snapshot->trend || !wanted || !wanted->bins || !events)
		return;
	for (unsigned event = 0; event < snapshot->n_events; event++) {
		json_object *object = json_get_shown(writer, events, snapshot->events[event].key);
		struct trend_bins bins = {
			.bin_ns = MAX(wanted->bin_ns, 1), .end_ns = wanted->end_ns, .n = wanted->bins};

		if (!object)
			continue;
		bins.bins = calloc(bins.n, sizeof(*bins.bins));
		if (!bins.bins) {
			writer->failed = true;
			return;
		}
		add_members(snapshot, cgroup, event, &bins);
		json_put(writer, object, "trend", trend_object(writer, &bins));
		free(bins.bins);
	}
}

static json_object *cgroup_with(struct json_writer *writer, const struct snapshot *snapshot,
				const struct snapshot_cgroup *cgroup, const struct json_more *more,
				struct json_rows *rows, size_t i, struct snapshot_counters *counters)
{
	json_object *object = cgroup_object(writer, snapshot, cgroup, more, rows, i, counters);

	if (more)
		put_trends(writer, object, snapshot, cgroup, &more->trend);
	return more ? json_checked(writer, json_add_names(object, more->names)) : object;
}

/* Adds the time of the snapshot and the interval of collections, for clients that poll. */
static void put_time(struct json_writer *writer, json_object *head, const struct snapshot *snapshot)
{
	json_put_time(writer, head, "taken", &snapshot->taken);
	json_put_seconds(writer, head, "interval_s", snapshot->interval_seconds);
}

/* Writes `object` if it fits. Takes `object`; NULL: no memory for it, returns -ENOMEM. */
static int put_cgroup(struct text_sink *sink, struct json_page *page, u64 index, bool follows,
		      json_object *object)
{
	size_t length;
	const char *text = object ? json_object_to_json_string_length(object, sink->flags, &length) : NULL;
	int r = text ? 0 : -ENOMEM;

	if (r == 0 && sink->bytes_max && sink->bytes + 1 + length > sink->bytes_max) {
		sink->full = true;
	} else if (r == 0 && json_page_fits(page, index, length)) {
		r = follows ? put_literal(sink, ",") : 0;
		if (r == 0)
			r = put_bytes(sink, text, length);
	}
	json_object_put(object);
	return r;
}

/* Writes a comma and the members that json_put_page() adds. `taken` may be written already. */
static int put_page(struct text_sink *sink, struct json_writer *writer, const struct json_page *page,
		    bool has_taken)
{
	json_object *members = json_checked(writer, json_object_new_object());
	json_object *whole;
	size_t length;
	const char *text;
	int r;

	json_put_page(writer, members, page);
	whole = json_finish(writer, members);
	if (!whole)
		return -ENOMEM;
	if (has_taken)
		json_object_object_del(whole, "taken");
	if (json_object_object_length(whole) == 0) {
		json_object_put(whole);
		return 0;
	}
	text = json_object_to_json_string_length(whole, sink->flags, &length);
	r = text ? put_literal(sink, ",") : -ENOMEM;
	if (r == 0)
		r = put_bytes(sink, text + 1, length - 2);
	json_object_put(whole);
	return r;
}

int json_write_top(const struct snapshot *snapshot, const size_t *cgroups, size_t n,
		   const struct json_more *more, int flags, json_sink sink, void *userdata)
{
	_cleanup_free_ struct snapshot_counters *counters = malloc(sizeof(*counters));
	struct text_sink text = {
		.flags = flags, .put = sink, .userdata = userdata, .bytes_max = more ? more->bytes_max : 0};
	_cleanup_(json_rows_clear) struct json_rows rows = {.snapshot = snapshot, .cgroups = cgroups, .n = n};
	struct json_rows *bounds = more && more->public ? NULL : &rows;
	struct json_writer writer = {0};
	json_object *head;
	struct json_page *page = more ? more->page : NULL;
	u64 first = page ? page->first : 0;
	size_t listed = 0;
	int r;

	if (!counters)
		return -ENOMEM;
	head = head_object(&writer, snapshot, bounds);
	if (more && more->matching)
		json_put_u64(&writer, head, "matching", snapshot->n_cgroups);
	/* The names of a recording's file and of its host are not public. */
	if (more && more->public)
		put_time(&writer, head, snapshot);
	else
		json_put_recordings(&writer, head, snapshot);
	if (more && more->past)
		json_put_past(&writer, head, more->past, more->past_open);
	r = put_object(&text, &writer, head, strlen("}"));
	if (r == 0)
		r = put_literal(&text, ",\"cgroups\":[");
	for (size_t i = 0; r == 0 && i < n && !(page && page->cut) && !text.full; i++) {
		const struct snapshot_cgroup *cgroup = &snapshot->cgroups[cgroups ? cgroups[i] : i];

		if (json_page_reads(page, first + i, MAX(cgroup->n_members, 1)))
			r = put_cgroup(&text, page, first + i, i > 0,
				       json_finish(&writer, cgroup_with(&writer, snapshot, cgroup, more,
									bounds, i, counters)));
		listed += !text.full;
	}
	if (r == 0)
		r = put_literal(&text, "]");
	if (r == 0 && text.bytes_max) {
		char unlisted[sizeof(",\"unlisted\":") + 20];

		(void)snprintf(unlisted, sizeof(unlisted), ",\"unlisted\":%zu", n - listed + more->others);
		r = put_literal(&text, unlisted);
	}
	if (r == 0 && page && (page->cut || first > 0))
		r = put_page(&text, &writer, page, more->past != NULL);
	if (r == 0 && !(more && (more->public || more->past)) && snapshot->notes && *snapshot->notes) {
		r = put_literal(&text, ",\"notes\":");
		if (r == 0)
			r = put_object(&text, &writer, json_notes(&writer, snapshot), 0);
	}
	return r == 0 ? put_literal(&text, "}") : r;
}

/*
 * Adds "no_slot" if the cgroup has no slot now. If it has counters, these are from a time when this cgroup, or
 * another cgroup with this path, had a slot.
 */
static void put_no_slot(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
			const char *path)
{
	if (no_slot_has(snapshot->no_slot, path))
		json_put(writer, object, "no_slot", json_object_new_boolean(true));
}

static json_object *detail_object(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
				  const struct json_trend *trend)
{
	_cleanup_free_ struct snapshot_counters *counters = malloc(sizeof(*counters));
	struct json_writer writer = {.failed = !counters};
	json_object *object = json_start(&writer, snapshot);

	if (!counters)
		return json_finish(&writer, object);
	snapshot_counters_of(snapshot, cgroup, counters);
	json_put_window(&writer, object, snapshot);
	json_put_text(&writer, object, "cgroup", cgroup->path);
	json_put_u64(&writer, object, "id", cgroup->id);
	json_put(&writer, object, "alive", json_object_new_boolean(cgroup->alive));
	put_no_slot(&writer, object, snapshot, cgroup->path);
	put_labels(&writer, object, snapshot, cgroup->path, ~0U);
	put_guest(&writer, object, cgroup);
	put_subtree(&writer, object, cgroup);
	json_put_events(&writer, object, snapshot, counters->of, true);
	json_put_waits(&writer, object, snapshot, counters->of);
	json_put_all_bounds(&writer, object, snapshot, cgroup, counters->of);
	put_trends(&writer, object, snapshot, cgroup, trend);
	put_offcore(&writer, object, snapshot, cgroup->offcore);
	return json_finish(&writer, object);
}

json_object *json_cgroup(const struct snapshot *snapshot, size_t index, const struct json_trend *trend)
{
	return detail_object(snapshot, &snapshot->cgroups[index], trend);
}

json_object *json_cgroup_without_samples(const struct snapshot *snapshot, const char *path, u64 id,
					 bool alive)
{
	return detail_object(snapshot, &(struct snapshot_cgroup){.path = path, .id = id, .alive = alive},
			     NULL);
}

json_object *json_subtree_without_samples(const struct snapshot *snapshot, const char *path, u64 without_slot)
{
	return detail_object(
		snapshot,
		&(struct snapshot_cgroup){.path = path, .alive = true, .without_slot = without_slot}, NULL);
}
