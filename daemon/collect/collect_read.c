// SPDX-License-Identifier: GPL-2.0
/* Reads the dirty records of slots, adds them to the totals, and lists the deltas. */
#include <errno.h>
#include <string.h>

#include "collect/collect_internal.h"
#include "collect/dirty.h"

/* The stripes of one slot that are to be read, by event. */
struct due_stripes {
	u32 stripes[EVENTS_MAX];
};

static u32 stripes_of_all(const struct collect *collect)
{
	return (u32)((1ULL << collect->n_stripes) - 1);
}

static const void *record_at(const struct collect *collect, unsigned event, u32 stripe, u32 slot)
{
	const struct kernel *kernel = collect->settings.kernel;

	if (kernel_settings(kernel)->events[event].has_latency)
		return kernel_latency_record(kernel, event, stripe, slot);
	return kernel_plain_record(kernel, event, stripe, slot);
}

static void put_back(struct collect *collect, u32 slot, const struct due_stripes *due)
{
	for (unsigned event = 0; event < collect->n_events; event++)
		for (u32 bits = due->stripes[event]; bits; bits &= bits - 1)
			dirty_put_back(&collect->dirty[event][__builtin_ctz(bits)][slot]);
}

static int read_last(struct collect *collect, unsigned event, u32 slot, u32 stripes,
		     struct last_reading **last, u8 *packed, size_t *ret_size, u64 by_stripe[STRIPES_MAX])
{
	const void *records[STRIPES_MAX];

	for (u32 bits = stripes | last_reading_stripes(*last); bits; bits &= bits - 1)
		records[__builtin_ctz(bits)] = record_at(collect, event, (u32)__builtin_ctz(bits), slot);
	return last_reading_read(last, records, stripes,
				 kernel_settings(collect->settings.kernel)->events[event].has_latency, packed,
				 ret_size, by_stripe);
}

void collect_hold(struct collect *collect, struct slot_view *view, struct totals_entry *entry, u64 now_ns)
{
	totals_hold(entry);
	view->entry = entry;
	free(TAKE_PTR(view->path));
	if (view->alive || !entry->living)
		entry->id = view->cgroup_id;
	if (view->alive)
		entry->living++;
	else if (!entry->living)
		entry->died_ns = now_ns; /* the cgroup was removed before its first sample was read */
	totals_entry_changed(entry);
	collect_save_slot(collect, view);
}

static int need_entry(struct collect *collect, struct slot_view *view, u64 now_ns)
{
	struct totals_entry *entry;
	int r;

	if (view->entry)
		return 0;
	r = totals_get(collect->settings.totals, view->path, &entry);
	if (r == 0)
		collect_hold(collect, view, entry, now_ns);
	return r;
}

static int read_event(struct collect *collect, u32 slot, unsigned event, u32 stripes, struct deltas *deltas,
		      u64 now_ns)
{
	struct slot_view *view = &collect->slots[slot];
	struct totals_sum *sum;
	size_t size;
	u8 *room;
	int r;

	r = need_entry(collect, view, now_ns);
	if (r < 0)
		return r;
	sum = totals_sum(view->entry, &view->sums, event);
	room = deltas_room(deltas);
	if (!sum || !room)
		return -ENOMEM;
	r = read_last(collect, event, slot, stripes, &sum->last, room, &size, collect->seen_by_stripe[event]);
	if (r == 0 && size > 0) {
		deltas_put(deltas, view->entry, event, size);
		collect->seen_moved |= 1U << event;
		collect_save_last(collect, slot, sum);
	}
	return r;
}

/* If records cannot be read, sets their dirty bytes again. Postpones a slot whose owner is not known yet. */
static int read_due(struct collect *collect, u32 slot, struct due_stripes *due, struct deltas *deltas,
		    u64 now_ns)
{
	int r = 0;

	if (slot != SLOT_UNATTRIBUTED && !collect->slots[slot].owned) {
		put_back(collect, slot, due);
		return 0;
	}
	/* All counts of the slot were read. Its records stay unchanged until they are cleared. */
	if (collect->slots[slot].merged)
		return 0;
	for (unsigned event = 0; event < collect->n_events; event++) {
		if (!due->stripes[event])
			continue;
		r = read_event(collect, slot, event, due->stripes[event], deltas, now_ns);
		if (r < 0)
			break;
		due->stripes[event] = 0;
	}
	if (r < 0)
		put_back(collect, slot, due);
	return r;
}

/*
 * Takes the dirty bytes of 64 slots. Returns a bit for each slot that has one set, and its stripes in `due`,
 * which must be all zero.
 */
static u64 take_line(const struct collect *collect, u32 line, struct due_stripes due[DIRTY_LINE])
{
	u64 any = 0;

	for (unsigned event = 0; event < collect->n_events; event++)
		for (u32 stripe = 0; stripe < collect->n_stripes; stripe++) {
			u64 bits = dirty_take(collect->dirty[event][stripe] + (size_t)line * DIRTY_LINE);

			any |= bits;
			for (; bits; bits &= bits - 1)
				due[__builtin_ctzll(bits)].stripes[event] |= 1U << stripe;
		}
	if (any)
		dirty_taken();
	return any;
}

/* Prefetches the readings of all slots in `any` together, so that their cache misses overlap. */
static void prefetch_line(const struct collect *collect, u32 line, u64 any)
{
	const struct slot_view *views = &collect->slots[(size_t)line * DIRTY_LINE];

	for (u64 bits = any; bits; bits &= bits - 1)
		__builtin_prefetch(&views[__builtin_ctzll(bits)]);
	for (u64 bits = any; bits; bits &= bits - 1)
		__builtin_prefetch(views[__builtin_ctzll(bits)].sums);
}

static void prefetch_next(const struct collect *collect, u32 line, u64 bits)
{
	const struct totals_sum *sum =
		bits ? collect->slots[line * DIRTY_LINE + (u32)__builtin_ctzll(bits)].sums : NULL;

	if (sum)
		last_reading_prefetch(sum->last);
}

static int read_lines(struct collect *collect, u64 now_ns)
{
	struct due_stripes due[DIRTY_LINE] = {0};
	int r = 0;

	for (u32 line = 0; line < collect->n_lines; line++) {
		u64 any = take_line(collect, line, due);

		prefetch_line(collect, line, any);
		for (; any; any &= any - 1) {
			u32 nth = (u32)__builtin_ctzll(any);
			int one;

			prefetch_next(collect, line, any & (any - 1));
			one = read_due(collect, line * DIRTY_LINE + nth, &due[nth], collect->deltas, now_ns);
			due[nth] = (struct due_stripes){0};
			r = one < 0 ? one : r;
		}
	}
	return r;
}

static void take_slot(struct collect *collect, u32 slot, struct due_stripes *due)
{
	for (unsigned event = 0; event < collect->n_events; event++)
		for (u32 stripe = 0; stripe < collect->n_stripes; stripe++)
			if (dirty_take_one(&collect->dirty[event][stripe][slot]))
				due->stripes[event] |= 1U << stripe;
	dirty_taken();
}

static int read_slot_offcore(struct collect *collect, u32 slot, u64 now_ns)
{
	const struct kernel_offcore *offcore = kernel_offcore(collect->settings.kernel);
	struct slot_view *view = &collect->slots[slot];
	struct offcore_counts delta;
	int r;

	if (!offcore || view->merged ||
	    !read_offcore_moved(offcore, slot, offcore_cpus_of(collect, slot), view->offcore))
		return 0;
	r = need_entry(collect, view, now_ns);
	if (r == 0)
		r = totals_reserve_offcore(view->entry);
	if (r == 0)
		r = read_offcore(offcore, slot, offcore_cpus_of(collect, slot), &view->offcore, &delta);
	if (r < 0)
		return r;
	totals_add_offcore(view->entry, &delta);
	collect_save_offcore(collect, view);
	return 0;
}

static bool has_reading(const struct slot_view *view, unsigned event)
{
	for (const struct totals_sum *sum = view->sums; sum; sum = sum->of_slot)
		if (sum->event == event)
			return true;
	return false;
}

/* Returns true if a record of the event has a count, or if memory is too short to know. */
static bool has_record(struct collect *collect, u32 slot, unsigned event)
{
	u64 by_stripe[STRIPES_MAX] = {0};
	struct last_reading *last = NULL;
	u8 packed[PACKED_MAX];
	size_t size;
	int r = read_last(collect, event, slot, stripes_of_all(collect), &last, packed, &size, by_stripe);

	last_reading_free(last);
	return r < 0 || size > 0;
}

/*
 * Adds all stripes of each event that has counts in the slot, dirty or not. An event in `merged_events` still has
 * its records, but no reading: all of its counts are in the entry.
 */
static void take_all_stripes(struct collect *collect, u32 slot, struct due_stripes *due)
{
	const struct slot_view *view = &collect->slots[slot];

	for (unsigned event = 0; event < collect->n_events; event++)
		if (!(view->merged_events >> event & 1) &&
		    (has_reading(view, event) || has_record(collect, slot, event)))
			due->stripes[event] = stripes_of_all(collect);
}

static void add_all_cpus(struct collect *collect, u32 slot, u32 n_slots)
{
	const size_t words = offcore_cpus_words(kernel_offcore(collect->settings.kernel));

	memset(offcore_cpus_of(collect, slot), 0xff, n_slots * words * sizeof(u64));
}

/* Adds the CPUs whose dirty byte for the slot is set. The next collection clears these bytes. */
static void add_dirty_cpus(struct collect *collect, const struct kernel_offcore *offcore, u32 slot)
{
	for (u32 cpu = 0; cpu < kernel_offcore_cpus(offcore); cpu++)
		if (__atomic_load_n(&kernel_offcore_dirty(collect->settings.kernel, cpu)[slot],
				    __ATOMIC_ACQUIRE))
			offcore_cpus_add(offcore_cpus_of(collect, slot), cpu);
}

int collect_read_slot(struct collect *collect, u32 slot, struct deltas *deltas, u64 now_ns)
{
	const struct kernel_offcore *offcore = kernel_offcore(collect->settings.kernel);
	struct due_stripes due = {0};
	int r;

	take_slot(collect, slot, &due);
	if (collect->read_all)
		take_all_stripes(collect, slot, &due);
	if (offcore && collect->read_all)
		add_all_cpus(collect, slot, 1);
	else if (offcore)
		add_dirty_cpus(collect, offcore, slot);
	r = read_due(collect, slot, &due, deltas, now_ns);
	return r < 0 ? r : read_slot_offcore(collect, slot, now_ns);
}

/* `bits`: the slots of the line whose dirty byte of this CPU is set. */
static void note_offcore_dirty(struct collect *collect, u32 line, u64 bits, u32 cpu)
{
	collect->offcore_due[line] |= bits;
	for (; bits; bits &= bits - 1)
		offcore_cpus_add(offcore_cpus_of(collect, line * DIRTY_LINE + (u32)__builtin_ctzll(bits)),
				 cpu);
}

/*
 * Takes the dirty bytes of off-core counts CPU by CPU, as they lie in memory. With `all`, every slot counts as dirty on
 * every CPU.
 */
static void take_offcore_dirty(struct collect *collect, const struct kernel_offcore *offcore, bool all)
{
	u32 pmu;

	for (u32 cpu = 0; cpu < kernel_offcore_cpus(offcore); cpu++) {
		u8 *dirty = kernel_offcore_dirty(collect->settings.kernel, cpu);

		if (!kernel_offcore_pmu(offcore, cpu, &pmu))
			continue;
		for (u32 line = 0; line < collect->n_lines; line++)
			note_offcore_dirty(collect, line, dirty_take(dirty + (size_t)line * DIRTY_LINE), cpu);
	}
	if (all) {
		add_all_cpus(collect, 0, collect->n_slots);
		memset(collect->offcore_due, 0xff, collect->n_lines * sizeof(*collect->offcore_due));
	}
	dirty_taken();
}

/* The next collection reads slots whose owner is not known yet, and slots for which memory was short. */
static int read_offcore_due(struct collect *collect, u64 now_ns, bool all)
{
	const struct kernel_offcore *offcore = kernel_offcore(collect->settings.kernel);
	int r = 0;

	if (!offcore)
		return 0;
	take_offcore_dirty(collect, offcore, all);
	for (u32 line = 0; line < collect->n_lines; line++)
		for (u64 bits = collect->offcore_due[line]; bits; bits &= bits - 1) {
			u32 slot = line * DIRTY_LINE + (u32)__builtin_ctzll(bits);
			int one;

			if (slot >= collect->n_slots ||
			    (slot != SLOT_UNATTRIBUTED && !collect->slots[slot].owned))
				continue;
			one = read_slot_offcore(collect, slot, now_ns);
			if (one == 0)
				collect->offcore_due[line] &= ~(1ULL << (slot % DIRTY_LINE));
			r = one < 0 ? one : r;
		}
	return r;
}

static int read_all_slots(struct collect *collect, u64 now_ns)
{
	int r = 0;

	for (u32 slot = 0; slot < collect->n_slots; slot++) {
		const struct slot_view *view = &collect->slots[slot];
		struct due_stripes due = {0};
		int one;

		if (slot != SLOT_UNATTRIBUTED && !view->owned)
			continue;
		take_all_stripes(collect, slot, &due);
		one = read_due(collect, slot, &due, collect->deltas, now_ns);
		r = one < 0 ? one : r;
	}
	return r;
}

int collect_read(struct collect *collect, u64 now_ns, bool all)
{
	int read = all ? read_all_slots(collect, now_ns) : read_lines(collect, now_ns);
	int offcore = read_offcore_due(collect, now_ns, all);

	return read < 0 ? read : offcore;
}
