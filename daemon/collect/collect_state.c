// SPDX-License-Identifier: GPL-2.0
/* Saves changes of the collection to the state, and restores the collection in the next process. */
#include <errno.h>
#include <string.h>

#include "collect/collect_internal.h"
#include "collect/last_reading.h"
#include "state/state_bytes.h"
#include "state/state_kinds.h"

/* Flags in a slot's record. */
enum slot_flag { SLOT_FLAG_ALIVE = 1, SLOT_FLAG_MERGED = 2 };

static u64 last_key(u32 slot, unsigned event)
{
	return (u64)slot << 8 | event;
}

void collect_save_slot(struct collect *collect, struct slot_view *view)
{
	u8 bytes[(size_t)6 * VARINT_MAX];
	struct state_writer writer = {.to = bytes};

	if (!collect->settings.state)
		return;
	state_put_number(&writer, view->generation);
	state_put_number(&writer, view->cgroup_id);
	state_put_number(&writer,
			 (view->alive ? SLOT_FLAG_ALIVE : 0) | (view->merged ? SLOT_FLAG_MERGED : 0));
	state_put_number(&writer, view->entry->number);
	state_put_number(&writer, view->merged_events);
	state_put_number(&writer, view->merged_stripes);
	state_put(collect->settings.state, &view->record, STATE_SLOT, slot_number(collect, view), bytes,
		  (size_t)(writer.to - bytes));
}

void collect_save_last(struct collect *collect, u32 slot, struct totals_sum *sum)
{
	u8 bytes[LAST_READING_STATE_MAX];

	if (state_saves(collect->settings.state))
		state_put(collect->settings.state, &sum->record, STATE_LAST_READING,
			  last_key(slot, sum->event), bytes, last_reading_save(sum->last, bytes));
}

void collect_save_offcore(struct collect *collect, struct slot_view *view)
{
	state_put(collect->settings.state, &view->offcore_record, STATE_COUNTED_BASE,
		  slot_number(collect, view), view->offcore, sizeof(*view->offcore));
}

void collect_forget_early(struct collect *collect)
{
	while (collect->n_early_records > 0)
		state_remove(collect->settings.state, &collect->early_records[--collect->n_early_records]);
}

static void save_stripes(struct collect *collect, unsigned event)
{
	u8 bytes[(size_t)STRIPES_MAX * VARINT_MAX];
	struct state_writer writer = {.to = bytes};

	for (u32 stripe = 0; stripe < collect->n_stripes; stripe++)
		state_put_number(&writer, collect->seen_by_stripe[event][stripe]);
	state_put(collect->settings.state, &collect->stripes_records[event], STATE_STRIPES, event, bytes,
		  (size_t)(writer.to - bytes));
}

static void save_early(struct collect *collect, size_t i, const struct delta *delta)
{
	u8 bytes[(size_t)2 * VARINT_MAX + PACKED_MAX];
	struct state_writer writer = {.to = bytes};

	state_put_number(&writer, delta->entry->number);
	state_put_number(&writer, delta->event);
	state_put_bytes(&writer, delta->packed, delta->size);
	collect->early_records[i] = (struct state_ref){0};
	state_put(collect->settings.state, &collect->early_records[i], STATE_EARLY, i, bytes,
		  (size_t)(writer.to - bytes));
}

/*
 * Allocates references for `n` early records. If that fails, collect_save() marks the whole state as
 * incomplete.
 */
static bool reserve_early(struct collect *collect, size_t n)
{
	struct state_ref *longer = reallocarray(collect->early_records, n ? n : 1, sizeof(*longer));

	if (longer)
		collect->early_records = longer;
	return longer;
}

void collect_save(struct collect *collect)
{
	const struct delta *early;
	size_t n;

	if (!state_saves(collect->settings.state))
		return;
	for (u32 bits = collect->seen_moved; bits; bits &= bits - 1)
		save_stripes(collect, (unsigned)__builtin_ctz(bits));
	collect->seen_moved = 0;
	early = deltas_list(collect->early, &n);
	if (n > collect->n_early_records && !reserve_early(collect, n)) {
		state_lose(collect->settings.state, -ENOMEM);
		return;
	}
	for (; collect->n_early_records < n; collect->n_early_records++)
		save_early(collect, collect->n_early_records, &early[collect->n_early_records]);
}

/* The content of a slot's record. */
struct saved_slot {
	u32 slot;
	u32 generation;
	u64 cgroup_id;
	u64 flags;
	u16 merged_events, merged_stripes;
	struct totals_entry *entry;
};

static int read_slot(const struct collect *collect, const struct state_record *record, struct saved_slot *ret)
{
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};
	u64 generation = state_get_number(&reader), cgroup_id = state_get_number(&reader),
	    flags = state_get_number(&reader), number = state_get_number(&reader),
	    events = state_get_number(&reader), stripes = state_get_number(&reader);
	struct totals_entry *entry =
		number >> 32 ? NULL : totals_numbered(collect->settings.totals, (u32)number);

	if (!state_read_whole(&reader) || generation >> 32 || flags > (SLOT_FLAG_ALIVE | SLOT_FLAG_MERGED) ||
	    !entry || entry == totals_other(collect->settings.totals) ||
	    entry == totals_unattributed(collect->settings.totals) || events >> EVENTS_MAX ||
	    stripes >> STRIPES_MAX || record->key == SLOT_UNATTRIBUTED || record->key > SLOTS_MAX)
		return -EBADMSG;
	*ret = (struct saved_slot){
		.slot = (u32)record->key,
		.generation = (u32)generation,
		.cgroup_id = cgroup_id,
		.flags = flags,
		.merged_events = (u16)events,
		.merged_stripes = (u16)stripes,
		.entry = entry,
	};
	return 0;
}

static bool has_flag(const struct saved_slot *saved, enum slot_flag flag)
{
	return saved->flags & flag;
}

/* Queues a slot that is being reclaimed for its next step. */
static void queue_for_reclaim(struct collect *collect, struct slot_view *view, const struct slot_owner *owner)
{
	if (view->merged) {
		/* The slot has rested already: its next step is due at once. */
		TAILQ_INSERT_HEAD(&collect->retired, view, queue);
	} else if (owner->state == SLOT_RETIRED) {
		view->since_ns = collect->begun_ns;
		TAILQ_INSERT_TAIL(&collect->retired, view, queue);
	} else {
		view->since_ns = owner->died_ns;
		TAILQ_INSERT_TAIL(&collect->dead, view, queue);
	}
}

static int restore_slot(struct collect *collect, const struct state_record *record)
{
	const struct slot_owner *owner;
	struct slot_view *view;
	struct saved_slot saved;
	bool same;
	int r = read_slot(collect, record, &saved);

	if (r < 0)
		return r;
	if (saved.slot >= collect->n_slots || saved.merged_events >> collect->n_events ||
	    saved.merged_stripes >> collect->n_stripes)
		return -EBADMSG;
	owner = kernel_owner(collect->settings.kernel, saved.slot);
	view = &collect->slots[saved.slot];
	same = owner->generation == saved.generation && owner->cgroup_id == saved.cgroup_id;
	/* The slot became free after the state was committed. */
	if (has_flag(&saved, SLOT_FLAG_MERGED) && !(same && owner->state == SLOT_RETIRED))
		return 0;
	if (!same || owner->state == SLOT_FREE ||
	    (owner->state == SLOT_ALIVE && !has_flag(&saved, SLOT_FLAG_ALIVE)))
		return -EBADMSG;
	*view = (struct slot_view){
		.cgroup_id = saved.cgroup_id,
		.generation = saved.generation,
		.entry = saved.entry,
		.merged = has_flag(&saved, SLOT_FLAG_MERGED),
		.merged_events = saved.merged_events,
		.merged_stripes = saved.merged_stripes,
		.owned = true,
		/* The next collection notices a death since the state was saved. */
		.alive = has_flag(&saved, SLOT_FLAG_ALIVE) && !has_flag(&saved, SLOT_FLAG_MERGED),
	};
	totals_hold(saved.entry);
	collect->owned++;
	if (view->alive) {
		saved.entry->living++;
		collect->alive++;
	} else {
		queue_for_reclaim(collect, view, owner);
	}
	state_take(collect->settings.state, record, &view->record);
	return 0;
}

static int load_last(const struct collect *collect, const struct state_record *record, u32 *ret_slot,
		     unsigned *ret_event, struct last_reading **ret)
{
	unsigned event = record->key & 0xff;

	*ret_slot = (u32)(record->key >> 8);
	*ret_event = event;
	if (record->key >> 40 || event >= collect->n_events)
		return -EBADMSG;
	return last_reading_restore(record->bytes, record->length,
				    kernel_settings(collect->settings.kernel)->events[event].has_latency,
				    ret);
}

static int restore_last(struct collect *collect, const struct state_record *record)
{
	_cleanup_(last_reading_freep) struct last_reading *last = NULL;
	struct slot_view *view;
	struct totals_sum *sum;
	unsigned event;
	u32 slot;
	int r = load_last(collect, record, &slot, &event, &last);

	if (r < 0)
		return r;
	if (slot >= collect->n_slots || last_reading_stripes(last) >> collect->n_stripes)
		return -EBADMSG;
	view = &collect->slots[slot];
	if (!view->entry || view->merged)
		return -EBADMSG;
	sum = totals_sum(view->entry, &view->sums, event);
	if (!sum)
		return -ENOMEM;
	sum->last = TAKE_PTR(last);
	state_take(collect->settings.state, record, &sum->record);
	return 0;
}

/*
 * The maps of the saved slot are gone, and its path has no slot now. If the cgroup still exists, adoption gives it one;
 * until then its counts must stay with the path.
 */
static int end_slot(struct collect *collect, const struct state_record *record)
{
	struct saved_slot saved;
	int r = read_slot(collect, record, &saved);

	if (r < 0 || !has_flag(&saved, SLOT_FLAG_ALIVE))
		return r;
	totals_died(saved.entry, collect->begun_ns);
	/* Else the first collection would fold paths if they took too much memory, before any is adopted. */
	totals_protect(saved.entry);
	return 0;
}

/* The maps of the saved slot are gone: adds its counts to the sum of the former slots of its path. */
static int merge_last(struct collect *collect, const struct state_record *record)
{
	_cleanup_(last_reading_freep) struct last_reading *last = NULL;
	const struct state_record *of_slot;
	struct counters counters = {0};
	struct totals_entry *entry;
	struct saved_slot saved;
	u8 packed[PACKED_MAX];
	unsigned event;
	u32 slot;
	int r = load_last(collect, record, &slot, &event, &last);

	if (r < 0)
		return r;
	entry = totals_unattributed(collect->settings.totals);
	if (slot != SLOT_UNATTRIBUTED) {
		of_slot = state_find(collect->settings.state, STATE_SLOT, slot);
		r = of_slot ? read_slot(collect, of_slot, &saved) : -EBADMSG;
		if (r < 0)
			return r;
		entry = saved.entry;
	}
	last_reading_add(last, &counters);
	return totals_add(entry, event, packed, packed_of(&counters, packed));
}

static int restore_offcore(struct collect *collect, const struct state_record *record)
{
	struct slot_view *view = record->key < collect->n_slots ? &collect->slots[record->key] : NULL;

	if (!kernel_offcore(collect->settings.kernel))
		return 0;
	if (!view || record->length != sizeof(*view->offcore))
		return -EBADMSG;
	view->offcore = malloc(sizeof(*view->offcore));
	if (!view->offcore)
		return -ENOMEM;
	memcpy(view->offcore, record->bytes, record->length);
	state_take(collect->settings.state, record, &view->offcore_record);
	return 0;
}

static int restore_stripes(struct collect *collect, const struct state_record *record)
{
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};

	if (record->key >= collect->n_events)
		return -EBADMSG;
	for (u32 stripe = 0; stripe < collect->n_stripes; stripe++)
		collect->seen_by_stripe[record->key][stripe] = state_get_number(&reader);
	if (!state_read_whole(&reader))
		return -EBADMSG;
	state_take(collect->settings.state, record, &collect->stripes_records[record->key]);
	return 0;
}

static int restore_early(struct collect *collect, const struct state_record *record)
{
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};
	u64 number = state_get_number(&reader), event = state_get_number(&reader);
	struct totals_entry *entry =
		number >> 32 ? NULL : totals_numbered(collect->settings.totals, (u32)number);
	const u8 *packed;
	size_t size;
	u8 *room;

	packed = state_get_rest(&reader, &size);
	if (!entry || event >= collect->n_events || size == 0 || size > PACKED_MAX ||
	    record->key != collect->n_early_records || !packed_sound(packed, size))
		return -EBADMSG;
	room = deltas_room(collect->early);
	if (!room || !reserve_early(collect, collect->n_early_records + 1))
		return -ENOMEM;
	memcpy(room, packed, size);
	deltas_put(collect->early, entry, (u32)event, size);
	totals_protect(entry);
	state_take(collect->settings.state, record, &collect->early_records[collect->n_early_records++]);
	return 0;
}

static int each(struct collect *collect, u32 kind,
		int (*restore)(struct collect *collect, const struct state_record *record))
{
	const struct state_record *records;
	size_t n;
	int r = 0;

	records = state_records(collect->settings.state, kind, &n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = restore(collect, &records[i]);
	return r;
}

static int restore_slots(struct collect *collect)
{
	int r = each(collect, STATE_SLOT, restore_slot);

	if (r == 0)
		r = each(collect, STATE_LAST_READING, restore_last);
	if (r == 0)
		r = each(collect, STATE_COUNTED_BASE, restore_offcore);
	if (r == 0)
		r = each(collect, STATE_STRIPES, restore_stripes);
	return r;
}

static int end_slots(struct collect *collect)
{
	int r = each(collect, STATE_SLOT, end_slot);

	return r < 0 ? r : each(collect, STATE_LAST_READING, merge_last);
}

int collect_restore(struct collect *collect, bool same_maps, u64 now_ns)
{
	int r;

	if (!state_find(collect->settings.state, STATE_HEAD, 0))
		return 0;
	collect->begun_ns = now_ns;
	/* The previous process may have taken dirty bytes and not read their records. */
	collect->read_all = true;
	/* The hot tables ended with the previous process. */
	collect->review_hot = true;
	for (u32 slot = 1; slot < collect->n_slots; slot++)
		collect->changed[slot / DIRTY_LINE] |= 1ULL << slot % DIRTY_LINE;
	r = same_maps ? restore_slots(collect) : end_slots(collect);
	return r < 0 ? r : each(collect, STATE_EARLY, restore_early);
}
