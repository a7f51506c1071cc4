// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_bounds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "estimate/window_samples.h"
#include "export/json/data_source_names.h"
#include "export/json/json_event.h"
#include "export/json/json_waits.h"
#include "snapshot/snapshot_waits.h"

/* Returns the numbers of a cgroup, or of all members of a sum. The caller frees them. NULL: no memory. */
static u32 *entries_of(const struct snapshot_cgroup *cgroup, size_t *ret_n)
{
	size_t n = cgroup->n_members ? cgroup->n_members : 1;
	u32 *entries = calloc(n, sizeof(*entries));

	if (!entries)
		return NULL;
	entries[0] = cgroup->entry;
	for (size_t i = 0; i < cgroup->n_members; i++)
		entries[i] = cgroup->members[i]->entry;
	*ret_n = n;
	return entries;
}

int json_window_samples(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
			struct window_samples *ret)
{
	_cleanup_free_ u32 *entries = NULL;
	size_t n;

	if (!snapshot->window || !snapshot->window_seconds.known)
		return -ENODATA;
	entries = entries_of(cgroup, &n);
	if (!entries)
		return -ENOMEM;
	return window_samples_of(snapshot->window,
				 (u64)llround(snapshot->window_seconds.value * (double)NSEC_PER_SEC), entries,
				 n, ret);
}

static bool has_bounds(const struct estimate *estimate)
{
	return estimate->known && estimate->worth > 0;
}

static void put_quantile(struct json_writer *writer, json_object *quantile, const struct estimate *estimate)
{
	json_object *bounds;

	if (!has_bounds(estimate))
		return;
	bounds = json_checked(writer, json_object_new_object());
	json_put_u64(writer, bounds, "low", (u64)estimate->bounds.low);
	if (isfinite(estimate->bounds.high))
		json_put_u64(writer, bounds, "high", (u64)estimate->bounds.high);
	json_put_u64(writer, bounds, "worth", estimate->worth);
	json_put(writer, quantile, "bounds", bounds);
}

/* Rounds outwards, so that the true share lies between the printed bounds. */
static void put_share(struct json_writer *writer, json_object *source, const struct estimate *estimate)
{
	static const double MILLION = 1e6;
	json_object *bounds;

	if (!has_bounds(estimate))
		return;
	bounds = json_checked(writer, json_object_new_object());
	json_put_number(writer, bounds, "low", floor(estimate->bounds.low * MILLION) / MILLION, 6);
	json_put_number(writer, bounds, "high", fmin(ceil(estimate->bounds.high * MILLION) / MILLION, 1), 6);
	json_put(writer, source, "bounds", bounds);
}

void json_put_event_bounds(struct json_writer *writer, json_object *object,
			   const struct window_samples *samples, unsigned event)
{
	json_object *latency = json_object_object_get(object, "latency");
	json_object *sources = json_object_object_get(object, "sources");
	struct estimate estimate;

	for (size_t i = 0; latency && i < JSON_QUANTILES; i++) {
		window_samples_quantile(samples, event, json_quantiles[i].q, JSON_CONFIDENCE, &estimate);
		put_quantile(writer, json_object_object_get(latency, json_quantiles[i].name), &estimate);
	}
	for (u32 i = 0; sources && i < SOURCE_SLOTS; i++) {
		json_object *source = json_object_object_get(sources, source_names[i]);

		if (!source)
			continue;
		window_samples_share(samples, event, i, JSON_CONFIDENCE, &estimate);
		put_share(writer, source, &estimate);
	}
	json_put_number(writer, object, "confidence", JSON_CONFIDENCE, 2);
}

void json_put_all_bounds(struct json_writer *writer, json_object *cgroup_object,
			 const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
			 const struct counters *const *counters)
{
	_cleanup_free_ struct window_samples *samples = NULL;
	json_object *events = json_object_object_get(cgroup_object, "events");
	int r;

	if (!events || !snapshot->window)
		return;
	samples = malloc(sizeof(*samples));
	r = samples ? json_window_samples(snapshot, cgroup, samples) : -ENOMEM;
	if (r < 0) {
		writer->failed = writer->failed || r == -ENOMEM;
		return;
	}
	for (unsigned event = 0; event < snapshot->n_events; event++) {
		json_object *object = json_get_shown(writer, events, snapshot->events[event].key);

		if (object)
			json_put_event_bounds(writer, object, samples, event);
	}
	json_put_wait_bounds(writer, cgroup_object, snapshot, counters, samples);
}

/*
 * Rows that are read at a time, and the cgroups in them. With four events and the most parts this takes 3 MB. A pass
 * over a window with 10,000 cgroups takes 15 ms.
 */
#define ROWS_MAX    1024
#define ENTRIES_MAX 65536

void json_rows_clear(struct json_rows *rows)
{
	window_counts_free(rows->counts);
	free(rows->samples);
	*rows = (struct json_rows){0};
}

static const struct snapshot_cgroup *row_of(const struct json_rows *rows, size_t i)
{
	return &rows->snapshot->cgroups[rows->cgroups ? rows->cgroups[i] : i];
}

static unsigned events_of_waits(const struct snapshot *snapshot)
{
	unsigned events = 0;

	for (unsigned event = 0; event < snapshot->n_events; event++)
		events |= (unsigned)snapshot_event_is_of_waits(&snapshot->events[event]) << event;
	return events;
}

/* Reads some rows from `first` on, and that of all cgroups with the first ones. */
static int read_rows(struct json_rows *rows, size_t first)
{
	struct window_row list[ROWS_MAX + 1];
	u32 *entries[ROWS_MAX];
	size_t n = 0, n_entries = 0;
	int r = 0;

	while (n < ROWS_MAX && first + n < rows->n && n_entries < ENTRIES_MAX) {
		entries[n] = entries_of(row_of(rows, first + n), &list[n].n);
		if (!entries[n]) {
			r = -ENOMEM;
			break;
		}
		list[n].entries = entries[n];
		n_entries += list[n].n;
		n++;
	}
	list[n] = (struct window_row){0};
	rows->counts = window_counts_free(rows->counts);
	if (r == 0)
		r = window_counts_of(
			rows->snapshot->window,
			(u64)llround(rows->snapshot->window_seconds.value * (double)NSEC_PER_SEC),
			events_of_waits(rows->snapshot), list, first ? n : n + 1, &rows->counts);
	rows->first = first;
	rows->end = first + n;
	while (n > 0)
		free(entries[--n]);
	return r;
}

/* Returns false if there are no bounds. */
static bool prepare(struct json_writer *writer, struct json_rows *rows, size_t i)
{
	int r = 0;

	if (rows->none || !rows->snapshot->window || !rows->snapshot->window_seconds.known ||
	    !events_of_waits(rows->snapshot))
		return false;
	if (!rows->samples)
		rows->samples = calloc(1, sizeof(*rows->samples));
	if (!rows->samples)
		r = -ENOMEM;
	else if (!rows->counts || i < rows->first || i >= rows->end)
		r = read_rows(rows, i);
	rows->none = r < 0;
	writer->failed = writer->failed || r == -ENOMEM;
	return r == 0;
}

void json_rows_put(struct json_writer *writer, json_object *object, struct json_rows *rows, size_t i,
		   const struct counters *const *counters)
{
	if (!json_object_object_get(object, "waits") || !prepare(writer, rows, i))
		return;
	window_counts_row(rows->counts, i - rows->first, rows->samples);
	json_put_wait_bounds(writer, object, rows->snapshot, counters, rows->samples);
}

void json_rows_put_total(struct json_writer *writer, json_object *object, struct json_rows *rows,
			 const struct counters *const *counters)
{
	if (!json_object_object_get(object, "waits") || !prepare(writer, rows, rows->first))
		return;
	window_counts_row(rows->counts, rows->end - rows->first, rows->samples);
	json_put_wait_bounds(writer, object, rows->snapshot, counters, rows->samples);
}
