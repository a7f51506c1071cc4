// SPDX-License-Identifier: GPL-2.0
/* A collection: adds the deltas to totals, window and series, and describes itself in the head. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "engine/engine_internal.h"
#include "snapshot/snapshot_cpus.h"

/*
 * Memory of the window per active cgroup and event. Ten minutes of many busy cgroups need far more, so older
 * collections are merged (window.h), and with thousands of cgroups the window reaches less far back. If each
 * cgroup has 20 samples a second and two events, the window reaches 458 s and more for 1,000 cgroups, and 15
 * to 34 s for 4,000 (tests/bench/window_reach). The number of active cgroups and events is a recent maximum,
 * which decays with this half-life.
 */
#define WINDOW_BYTES_PER_ACTIVE    256 /* per cgroup and event */
#define WINDOW_ACTIVE_HALF_LIFE_NS (60 * NSEC_PER_SEC)

/*
 * Removed cgroups keep counters of their own for as long as a window reaches, but only this number of them, or
 * twice the number of slots if that is more. Fewer keep them if their entries take more than TOTALS_UNHELD_BYTES.
 */
#define DEAD_MIN 1024

size_t engine_window_bytes(double active)
{
	return ENGINE_WINDOW_BYTES + (size_t)(active * WINDOW_BYTES_PER_ACTIVE);
}

/* Adapts the memory limit to the number of deltas in a collection, and lowers it slowly. */
static void size_window(struct engine *engine, u64 elapsed_ns, size_t n)
{
	engine->active *= exp2(-(double)elapsed_ns / (double)WINDOW_ACTIVE_HALF_LIFE_NS);
	engine->active = fmax(engine->active, (double)n);
	window_limit(engine->window, engine_window_bytes(engine->active));
}

/* A shorter window loses no counts, so a failure is only logged. */
static void fill_window(struct engine *engine, u64 elapsed_ns)
{
	const struct delta *list;
	size_t n;
	int r;

	list = engine_deltas(engine, &n);
	size_window(engine, elapsed_ns, n);
	window_begin(engine->window, engine->collected_ns, &engine->head.taken);
	for (size_t i = 0; i < n; i++)
		window_put(engine->window, list[i].entry->number, list[i].event, list[i].packed,
			   list[i].size);
	r = window_end(engine->window);
	if (r < 0)
		(void)log_warning(
			0,
			"cannot add this collection to the windows: %s; all windows are empty and start again",
			strerror(-r));
}

/*
 * A missing point in a trend loses no counts either. -ENOSPC is not logged: it is normal when the memory
 * limit of trends is reached.
 */
static void fill_trend(struct engine *engine)
{
	const struct delta *list;
	size_t n;
	int r;

	if (!engine->trend)
		return;
	list = engine_deltas(engine, &n);
	r = trend_collect(engine->trend, engine->collected_ns, list, n);
	if (r < 0 && r != -ENOSPC)
		(void)log_warning(0, "cannot add this collection to the trends: %s; some trends lack it",
				  strerror(-r));
}

static void add_totals(struct engine *engine)
{
	const struct delta *list;
	size_t n;

	list = engine_deltas(engine, &n);
	for (size_t i = 0; i < n; i++) {
		engine->now[list[i].event].seen += packed_samples(list[i].packed, list[i].size);
		packed_add(list[i].packed, list[i].size, &engine->sums[list[i].event]);
	}
}

bool engine_exports(const struct engine *engine, struct totals_entry *entry)
{
	if (entry == totals_unattributed(engine->totals))
		return false;
	if (entry->exports_as_of != engine->exports_as_of) {
		entry->exports = engine->settings.exported(entry->path, engine->settings.userdata);
		entry->exports_as_of = engine->exports_as_of;
	}
	return entry->exports;
}

void engine_exports_changed(struct engine *engine)
{
	engine->exports_as_of++;
}

/* The deltas of a collection as input for the series. */
struct series_inputs {
	struct series_input *list;
	size_t n;
	const struct delta *unattributed;
	size_t n_unattributed;
};

/*
 * Lists adjacent deltas of the same entry as one input. An entry with several slots may have several
 * inputs.
 */
static void list_sampled(const struct engine *engine, struct series_inputs *inputs)
{
	const struct delta *list;
	size_t n;

	list = engine_deltas(engine, &n);
	for (size_t i = 0, next; i < n; i = next) {
		struct totals_entry *entry = list[i].entry;

		for (next = i + 1; next < n && list[next].entry == entry;)
			next++;
		if (entry == totals_unattributed(engine->totals)) {
			inputs->unattributed = &list[i];
			inputs->n_unattributed = next - i;
		} else {
			inputs->list[inputs->n++] = (struct series_input){
				.path = entry->path,
				.exported = engine_exports(engine, entry),
				.deltas = &list[i],
				.n_deltas = next - i,
			};
		}
	}
}

static void list_offcore(const struct engine *engine, struct series_inputs *inputs)
{
	struct totals_entry *const *entries;
	size_t n;

	entries = totals_entries(engine->totals, &n);
	for (size_t i = 0; i < n; i++)
		if (entries[i]->offcore_delta)
			inputs->list[inputs->n++] = (struct series_input){
				.path = entries[i]->path,
				.exported = engine_exports(engine, entries[i]),
				.offcore = entries[i]->offcore_delta,
			};
}

static int fill_series(struct engine *engine)
{
	const struct totals_entry *unattributed = totals_unattributed(engine->totals);
	_cleanup_free_ struct series_input *list = NULL;
	struct series_inputs inputs = {0};
	size_t n, n_entries = 0;
	int r;

	(void)engine_deltas(engine, &n);
	if (engine->offcore)
		(void)totals_entries(engine->totals, &n_entries);
	inputs.list = list = calloc(n + n_entries + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	list_sampled(engine, &inputs);
	if (engine->offcore)
		list_offcore(engine, &inputs);
	r = series_table_update(engine->series, engine->collected_ns, inputs.list, inputs.n,
				inputs.unattributed, inputs.n_unattributed);
	if (r == 0 && unattributed->offcore_delta)
		r = series_table_count_unattributed(engine->series, unattributed->offcore_delta);
	return r;
}

static void read_rejected(struct engine *engine, unsigned event)
{
	struct reading *now = &engine->now[event];

	now->malformed = engine->base[event].malformed;
	now->filtered = engine->base[event].filtered;
	for (u32 stripe = 0; stripe < engine->head.stripes; stripe++) {
		struct rejected_record rejected = kernel_rejected(engine->kernel, event, stripe);

		now->malformed += rejected.malformed;
		now->filtered += rejected.filtered;
		engine->filtered_by_stripe[event][stripe] = rejected.filtered;
	}
}

static void read_events(struct engine *engine)
{
	if (engine->settings.count)
		engine->settings.count(engine->now, engine->settings.count_userdata);
	for (unsigned event = 0; event < engine->settings.n_events && engine->settings.count; event++)
		event_counts_add(&engine->now[event], &engine->base[event]);
	for (unsigned event = 0; event < engine->settings.n_events; event++)
		read_rejected(engine, event);
}

/* Call it after the slots were read. If memory is short, the event has no figures by CPU this time. */
static void fill_cpus(struct engine *engine, unsigned event)
{
	struct snapshot_event *head = &engine->head.events[event];
	const struct cpu_counts *counts;
	struct snapshot_cpu *longer;
	size_t n;

	head->n_per_cpu = 0;
	if (!engine->settings.count_cpus || head->event.period == 0)
		return;
	counts = engine->settings.count_cpus(event, &n, engine->settings.count_userdata);
	longer = n ? reallocarray(engine->per_cpu[event], n, sizeof(*longer)) : NULL;
	if (!longer)
		return;
	engine->per_cpu[event] = longer;
	snapshot_cpus(counts, n, collect_seen_by_stripe(engine->collect, event),
		      head->event.settings.operations ? engine->filtered_by_stripe[event] : NULL,
		      engine->settings.stripes, longer);
	head->per_cpu = longer;
	head->n_per_cpu = n;
}

static int enter_deltas(struct engine *engine, u64 elapsed_ns,
			int (*read)(struct collect *collect, u64 now_ns))
{
	struct reading before[EVENTS_MAX];
	int r;

	memcpy(before, engine->now, sizeof(before));
	/*
	 * Read the origin's counts first: then samples that arrive while the slots are read count as seen,
	 * not as lost.
	 */
	read_events(engine);
	for (unsigned event = 0; event < engine->settings.n_events; event++)
		series_table_scale(engine->series, event, reading_scale(&engine->now[event], &before[event]));
	if (engine->settings.offcore_collect)
		engine->settings.offcore_collect(engine->settings.count_userdata);
	r = read(engine->collect, engine->collected_ns);
	/* Do this even after a failure: the samples that were read are only in the deltas of this collection. */
	add_totals(engine);
	fill_window(engine, elapsed_ns);
	fill_trend(engine);
	engine_offcore_enter(engine->offcore, engine->collected_ns, &engine->head.taken, &engine->head);
	if (r == 0)
		r = fill_series(engine);
	else
		(void)fill_series(engine);
	totals_offcore_taken(engine->totals);
	for (unsigned event = 0; event < engine->settings.n_events; event++) {
		reading_count_losses(&engine->now[event], &before[event]);
		fill_cpus(engine, event);
	}
	if (engine->settings.settled)
		engine->settings.settled(engine->now, engine->settings.count_userdata);
	readings_push(engine->readings, engine->collected_ns, engine->now);
	return r;
}

/*
 * Folds the entries of cgroups that were removed long ago. If too many entries of removed cgroups remain, or if they
 * take too much memory, also folds the oldest of them (totals_fold()).
 */
static int fold(struct engine *engine)
{
	u64 before_ns = engine->collected_ns > ENGINE_WINDOW_NS ? engine->collected_ns - ENGINE_WINDOW_NS : 0;
	size_t most = 2 * (size_t)kernel_slots(engine->kernel);

	return totals_fold(engine->totals, before_ns, most < DEAD_MIN ? DEAD_MIN : most);
}

static int collect(struct engine *engine, int (*read)(struct collect *collect, u64 now_ns))
{
	const u64 before_ns = engine->collected_ns;
	struct snapshot *head = &engine->head;
	int r, folded;

	engine_forget_snapshots(engine);
	engine->collected_ns = monotonic_ns();
	(void)clock_gettime(CLOCK_REALTIME, &head->taken);
	/* Fold before the slots are read: deltas refer to their entries until the next collection. */
	folded = fold(engine);
	r = enter_deltas(engine, engine->collected_ns - before_ns, read);
	if (r == 0)
		r = folded;
	totals_mark_guests(engine->totals, engine->guests, engine->n_guests);

	head->sequence++;
	head->cgroups_alive = collect_cgroups_alive(engine->collect);
	engine_keep_up(engine);
	engine_describe_slots(engine);
	head->slots_free = collect_slots_free(engine->collect);
	head->births_without_slot = kernel_slot_counters(engine->kernel).births_without_slot;
	head->slots_missing = engine_slots_missing(engine);
	/* If this process is killed from now on, the next one does not count this collection again. */
	engine_save(engine);
	if (engine->on_collected)
		engine->on_collected(engine->on_collected_userdata);
	head->collection_seconds = (double)(monotonic_ns() - engine->collected_ns) / (double)NSEC_PER_SEC;
	if (r < 0)
		(void)log_error(0,
				"this collection is incomplete: %s; the metrics may lack some of its counts",
				strerror(-r));
	return r < 0 ? r : 0;
}

int engine_collect(struct engine *engine)
{
	return collect(engine, collect_run);
}

int engine_collect_last(struct engine *engine)
{
	int r = collect(engine, collect_last);

	/*
	 * If events continue without this process, the next process settles their counts. Otherwise all
	 * events have stopped and no sample is in flight: a second collection confirms that missing samples
	 * are lost (reading_count_losses()).
	 */
	return r < 0 || state_saves(engine->settings.state) ? r : collect(engine, collect_last);
}
