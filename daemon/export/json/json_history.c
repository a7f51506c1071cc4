// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "collect/packed.h"
#include "estimate/window_waits.h"
#include "export/json/json_bounds.h"
#include "export/json/json_event.h"
#include "export/json/json_names.h"
#include "export/json/json_past.h"
#include "export/json/json_waits.h"
#include "history/shared/history_wire.h"
#include "snapshot/snapshot_build.h"
#include "snapshot/snapshot_counters.h"
#include "snapshot/snapshot_view.h"
#include "snapshot/snapshot_waits.h"

/* The same number of parts as the windows of rules have. */
#define PARTS_MAX 30U

/* From this length on, a range of all cgroups is read from spans of ten minutes or more as far as possible. */
#define LONG_US (21600 * 1000000ULL)
#define SPAN_US (600 * 1000000ULL)

/* Parts of a long range of all cgroups: at the border of two parts, up to 25 shorter spans are read. */
#define LONG_PARTS 8U

_Static_assert(PARTS_MAX <= BURSTS_PARTS_MAX, "all parts fit");

/* A bin while its parts are added up. */
struct bin {
	struct past_span span;
	u64 covered_ns;
	bool sampled[EVENTS_MAX];
	struct counters counters[EVENTS_MAX];
	struct snapshot_wait_parts waits;
	bool waited; /* `waits` has a sample */
	struct window_samples samples;
	struct snapshot_counters of_part;
};

/* Prefers parts that are a multiple of a long span, so that no shorter one is read at their borders. */
static u32 long_parts(u64 range_us, u32 bins)
{
	const u32 fewest = MAX(LONG_PARTS / bins, BURSTS_COLLECTIONS_MIN);

	for (u32 parts = fewest; parts < 2 * fewest; parts++)
		if (range_us % ((u64)parts * bins * SPAN_US) == 0)
			return parts;
	return fewest;
}

u32 json_history_parts(u64 range_us, u32 bins, bool of_all)
{
	u64 parts = range_us / bins / HISTORY_PANE_US;

	parts = MIN(MIN(parts, HISTORY_PANES_MAX / bins), PARTS_MAX);
	if (of_all && range_us >= LONG_US && range_us / bins >= BURSTS_COLLECTIONS_MIN * SPAN_US)
		parts = MIN(parts, long_parts(range_us, bins));
	return parts >= BURSTS_COLLECTIONS_MIN ? (u32)parts : 1;
}

/* The bin that has the middle of the last 10 s of the pane. The keeper divides the range in the same way. */
static u32 bin_of(const struct json_history *history, const struct past_bin *pane)
{
	struct past_span range = history->range;
	u64 half = MIN(pane->span.until_us - pane->span.since_us, HISTORY_PANE_US) / 2;
	u64 middle = pane->span.until_us - half;
	u64 from = middle > range.since_us ? middle - range.since_us : 0;

	return (u32)MIN((u64)((double)from / (double)(range.until_us - range.since_us) * history->bins),
			history->bins - 1);
}

/* The frequency of all parts is that of their cycles. */
static void add_waits(struct snapshot_wait_parts *sum, const struct snapshot_wait_parts *addend)
{
	if (addend->n == 0)
		return;
	if (sum->n != addend->n) {
		*sum = *addend;
		return;
	}
	for (size_t i = 0; i < sum->n; i++) {
		struct wait_part *to = &sum->parts[i];
		const struct wait_part *from = &addend->parts[i];
		struct wait_count *counts[] = {&to->cycles, &to->instructions, &to->stalls, &to->misses};
		const struct wait_count *added[] = {&from->cycles, &from->instructions, &from->stalls,
						    &from->misses};
		double weight = (double)to->cycles.weight, more = (double)from->cycles.weight;

		if (weight + more > 0)
			to->frequency_hz =
				(to->frequency_hz * weight + from->frequency_hz * more) / (weight + more);
		for (size_t j = 0; j < ARRAY_SIZE(counts); j++) {
			counts[j]->seconds += added[j]->seconds;
			counts[j]->weight += added[j]->weight;
			counts[j]->samples += added[j]->samples;
			counts[j]->largest = MAX(counts[j]->largest, added[j]->largest);
		}
	}
}

/* Adds one pane as the next part of the bin. */
static void add_part(const struct snapshot *snapshot, const struct counters *const *counters, u64 covered_ns,
		     struct bin *bin)
{
	struct snapshot_wait_parts waits;
	size_t part = MIN(bin->samples.n_parts, BURSTS_PARTS_MAX - 1);

	for (unsigned event = 0; event < snapshot->n_events; event++) {
		struct measured_part *measured = &bin->samples.parts[event][part];
		u8 packed[PACKED_MAX];
		struct tally tally;

		measured->seconds += (double)covered_ns / (double)NSEC_PER_SEC;
		if (!counters[event])
			continue;
		tally_of(packed, packed_of(counters[event], packed), &tally);
		tally_add(&measured->tally, &tally);
		tally_add(&bin->samples.sums[event], &tally);
		counters_add(&bin->counters[event], counters[event]);
		bin->sampled[event] = true;
	}
	bin->samples.n_parts = part + 1;
	/* The time of a pane without samples counts, too. */
	if (snapshot_wait_times(snapshot, counters, &waits))
		bin->waited = true;
	add_waits(&bin->waits, &waits);
}

/* Adds the counters of the chosen cgroup in a pane. `ret_read` is increased by the number of cgroups that were read. */
static int add_pane(const struct json_history *history, size_t index, struct bin *bin, size_t *ret_read)
{
	_cleanup_(snapshot_freep) struct snapshot *pane = NULL;
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = NULL;
	struct past_bin times = past_bin(history->past, index);
	const struct snapshot_cgroup *cgroup = NULL;
	const struct snapshot *snapshot;
	int r = past_bin_snapshot(history->past, index, &pane);

	if (r == 0 && history->subtree)
		r = snapshot_view_new(pane, &(struct view_request){.subtree = history->shown}, &view);
	if (r < 0)
		return r;
	*ret_read += pane->n_cgroups + 1;
	snapshot = view ? snapshot_view_of(view) : pane;
	if (view)
		cgroup = snapshot->n_cgroups ? &snapshot->cgroups[0] : NULL;
	else if (history->shown)
		cgroup = json_find_cgroup(snapshot, history->shown);
	memset(bin->of_part.of, 0, sizeof(bin->of_part.of));
	if (cgroup)
		snapshot_counters_of(snapshot, cgroup, &bin->of_part);
	for (unsigned event = 0; !history->shown && event < snapshot->n_events; event++)
		bin->of_part.of[event] = &snapshot->events[event].total;
	if (bin->covered_ns == 0)
		bin->span = times.span;
	bin->span.until_us = times.span.until_us;
	bin->covered_ns += times.covered_ns;
	add_part(snapshot, bin->of_part.of, times.covered_ns, bin);
	return 0;
}

static void put_bounds(struct json_writer *writer, json_object *object, const struct snapshot *snapshot,
		       const struct bin *bin)
{
	json_object *events = json_object_object_get(object, "events");

	for (unsigned event = 0; event < snapshot->n_events; event++) {
		json_object *of_event = json_get_shown(writer, events, snapshot->events[event].key);

		if (of_event)
			json_put_event_bounds(writer, of_event, &bin->samples, event);
	}
}

static json_object *bin_object(struct json_writer *writer, const struct json_history *history,
			       const struct bin *bin)
{
	const struct snapshot *snapshot = past_snapshot(history->past);
	json_object *object = json_checked(writer, json_object_new_object());
	bool bounded = bin->samples.n_parts >= BURSTS_COLLECTIONS_MIN;
	const struct counters *counters[EVENTS_MAX];
	struct wait_value values[WAIT_FIGURES];

	for (unsigned event = 0; event < EVENTS_MAX; event++)
		counters[event] = bin->sampled[event] ? &bin->counters[event] : NULL;
	json_put_moment(writer, object, "since", bin->span.since_us);
	json_put_moment(writer, object, "until", bin->span.until_us);
	json_put_number(writer, object, "covered_s", (double)bin->covered_ns / (double)NSEC_PER_SEC, 3);
	json_put_events(writer, object, snapshot, counters, history->histograms);
	if (bounded)
		put_bounds(writer, object, snapshot, bin);
	window_waits_of(&bin->samples, bin->waits.events, bin->waits.parts, bin->waited ? bin->waits.n : 0,
			JSON_CONFIDENCE, values);
	json_put_wait_values(writer, object, values, bounded);
	return object;
}

/* Appends the bins that fit on the page. */
static int put_bins(struct json_writer *writer, const struct json_history *history, json_object *list,
		    struct json_page *page)
{
	_cleanup_free_ struct bin *bin = malloc(sizeof(*bin));
	size_t n = past_bins(history->past), pane = 0, read = 0;

	if (!bin)
		return -ENOMEM;
	while (pane < n) {
		struct past_bin times = past_bin(history->past, pane);
		u32 index = bin_of(history, &times);

		if (index >= page->first) {
			if (!json_page_reads(page, index, read))
				return 0;
			read = 0;
			memset(bin, 0, offsetof(struct bin, of_part));
		}
		for (; pane < n; pane++) {
			int r;

			times = past_bin(history->past, pane);
			if (bin_of(history, &times) != index)
				break;
			r = index >= page->first ? add_pane(history, pane, bin, &read) : 0;
			if (r < 0)
				return r;
		}
		if (index >= page->first &&
		    !json_append_to_page(writer, list, bin_object(writer, history, bin), page, index))
			return 0;
	}
	return 0;
}

json_object *json_history(const struct json_history *history, struct json_page *page)
{
	const struct snapshot *snapshot = past_snapshot(history->past);
	struct past_span range = past_range(history->past);
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, snapshot->origin);
	json_object *list = json_checked(&writer, json_object_new_array());

	json_put_moment(&writer, object, "since", range.since_us);
	json_put_moment(&writer, object, "until", range.until_us);
	json_put_number(&writer, object, "bin_s",
			(double)(history->range.until_us - history->range.since_us) / 1e6 / history->bins, 3);
	if (history->shown)
		json_put(&writer, object, "cgroup", json_object_new_string(history->shown));
	if (put_bins(&writer, history, list, page) < 0)
		writer.failed = true;
	json_put(&writer, object, "bins", list);
	if (page->cut)
		json_put_u64(&writer, object, "next", page->next);
	json_put_past(&writer, object, history->past, history->open);
	return json_finish(&writer, object);
}
