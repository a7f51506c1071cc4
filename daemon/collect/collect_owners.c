// SPDX-License-Identifier: GPL-2.0
/* Births and deaths, as reported by the dirty bytes of owners, and the reclaim of slots. */
#include <errno.h>

#include "base/log.h"
#include "base/subtract.h"
#include "collect/collect_internal.h"
#include "collect/dirty.h"

static enum slot_state state_of(const struct slot_owner *owner)
{
	return __atomic_load_n(&owner->state, __ATOMIC_ACQUIRE);
}

static int learn_name(struct collect *collect, u32 slot)
{
	const struct slot_owner *owner = kernel_owner(collect->settings.kernel, slot);
	int r;

	if (state_of(owner) == SLOT_FREE || collect->slots[slot].learned)
		return 0;
	r = names_add(collect->settings.names, owner->cgroup_id, owner->parent_id, owner->name);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		(void)log_warning(0,
				  "cannot store the name of cgroup %llu: %s; this cgroup is shown by its id",
				  (unsigned long long)owner->cgroup_id,
				  r == -ENOSPC ? "the table of names is full" : strerror(-r));
	collect->slots[slot].learned = true;
	return 0;
}

static int notice_birth(struct collect *collect, u32 slot, const struct slot_owner *owner, u64 now_ns)
{
	const struct collect_listener *listener = &collect->settings.listener;
	struct slot_view *view = &collect->slots[slot];
	struct totals_entry *entry;
	char *path;
	int r;

	r = names_path(collect->settings.names, owner->cgroup_id, &path);
	if (r < 0)
		return r;
	view->path = path;
	view->owned = true;
	view->alive = true;
	view->cgroup_id = owner->cgroup_id;
	view->generation = owner->generation;
	collect->owned++;
	collect->alive++;
	entry = totals_find(collect->settings.totals, path);
	if (entry)
		collect_hold(collect, view, entry, now_ns);
	collect_adopted(collect, slot, view_path(view), now_ns);
	if (listener->born)
		listener->born(listener->userdata, view_path(view), view->cgroup_id);
	return 0;
}

static void notice_death(struct collect *collect, struct slot_view *view, const struct slot_owner *owner,
			 u64 now_ns)
{
	const struct collect_listener *listener = &collect->settings.listener;

	view->alive = false;
	view->since_ns = owner->died_ns;
	collect->alive--;
	TAILQ_INSERT_TAIL(&collect->dead, view, queue);
	if (view->entry && --view->entry->living == 0) {
		view->entry->died_ns = now_ns;
		totals_entry_changed(view->entry);
	}
	if (view->entry)
		collect_save_slot(collect, view);
	if (listener->gone)
		listener->gone(listener->userdata, view_path(view), view->cgroup_id);
}

/* Returns 1 if the owner has to be checked again, 0 if not, or -ENOMEM. */
static int notice_owner(struct collect *collect, u32 slot, u64 now_ns)
{
	const struct slot_owner *owner = kernel_owner(collect->settings.kernel, slot);
	struct slot_view *view = &collect->slots[slot];
	enum slot_state state = state_of(owner);
	int r;

	if (state == SLOT_FREE)
		return 0;
	if (!view->owned) {
		/*
		 * The cgroup was born after the names were learned. The next collection learns its name and
		 * notices its birth.
		 */
		if (collect->settings.names_from_slots && !view->learned)
			return 1;
		r = notice_birth(collect, slot, owner, now_ns);
		if (r < 0)
			return r;
	}
	if (view->alive && state != SLOT_ALIVE)
		notice_death(collect, view, owner, now_ns);
	return 0;
}

void collect_follow_growth(struct collect *collect)
{
	collect->n_slots = kernel_slots(collect->settings.kernel);
	collect->n_lines = dirty_row(collect->n_slots) / DIRTY_LINE;
}

static bool take_changed(struct collect *collect)
{
	u8 *dirty = kernel_owner_dirty(collect->settings.kernel);
	u64 any = 0;

	for (u32 line = 0; line < collect->n_lines; line++)
		any |= collect->changed[line] |= dirty_take(dirty + (size_t)line * DIRTY_LINE);
	dirty_taken();
	return any;
}

int collect_notice(struct collect *collect, u64 now_ns)
{
	int r = 0;

	collect_follow_growth(collect);
	if (!take_changed(collect))
		return 0;
	/* Learn all names first: a parent may have a higher slot number than its child. */
	for (u32 line = 0; line < collect->n_lines && collect->settings.names_from_slots; line++)
		for (u64 bits = collect->changed[line]; bits; bits &= bits - 1) {
			r = learn_name(collect, line * DIRTY_LINE + (u32)__builtin_ctzll(bits));
			if (r < 0)
				return r;
		}
	for (u32 line = 0; line < collect->n_lines; line++)
		for (u64 bits = collect->changed[line]; bits; bits &= bits - 1) {
			r = notice_owner(collect, line * DIRTY_LINE + (u32)__builtin_ctzll(bits), now_ns);
			if (r < 0)
				return r;
			if (r == 0)
				collect->changed[line] &= ~(bits & -bits);
		}
	return 0;
}

static void forget_slot(struct collect *collect, struct slot_view *view)
{
	const struct state_ref offcore_record = view->offcore_record;
	struct offcore_base *offcore = view->offcore;

	TAILQ_REMOVE(&collect->retired, view, queue);
	if (view->entry)
		totals_unhold(view->entry);
	names_remove(collect->settings.names, view->cgroup_id);
	free(view->path);
	state_remove(collect->settings.state, &view->record);
	*view = (struct slot_view){.offcore = offcore, .offcore_record = offcore_record};
	collect->owned--;
}

/*
 * No program can find the slot or use it any more. Reads the slot's last counts, and adds all of its counts to
 * the entry of its path in the totals. After -ENOMEM, `merged_events` has the events whose counts were added.
 */
static int merge(struct collect *collect, struct slot_view *view, struct deltas *deltas, u64 now_ns)
{
	int r = collect_read_slot(collect, slot_number(collect, view), deltas, now_ns);

	if (r < 0)
		return r;
	while (view->sums) {
		u32 stripes = last_reading_stripes(view->sums->last);
		unsigned event = view->sums->event;

		r = totals_merge(view->entry, &view->sums);
		if (r < 0)
			return r;
		view->merged_stripes |= (u16)stripes;
		view->merged_events |= (u16)(1U << event);
	}
	view->merged = true;
	return 0;
}

/* Clears the slot's records, so that the next cgroup of the slot begins at zero. */
static void clear(struct collect *collect, const struct slot_view *view)
{
	for (u32 events = view->merged_events; events; events &= events - 1)
		kernel_clear_records(collect->settings.kernel, slot_number(collect, view),
				     (unsigned)__builtin_ctz(events), view->merged_stripes);
}

/*
 * A step that fails, because the kernel refuses it for now or memory is short, is tried again later from the
 * same point. With a saved state, the records are cleared only by the next call: until the state is
 * committed, a restart must still find them, because their counts are not yet saved with the path. A slot of which
 * only some events are merged is saved as well, so that the next process adds no event twice.
 */
static int release(struct collect *collect, struct slot_view *view, struct deltas *deltas, u64 now_ns)
{
	u32 slot = slot_number(collect, view);
	int r;

	if (!view->merged) {
		r = merge(collect, view, deltas, now_ns);
		if (view->record.unit)
			collect_save_slot(collect, view);
		if (r < 0 || view->record.unit)
			return r;
	}
	clear(collect, view);
	if (kernel_release(collect->settings.kernel, slot, view->generation) == 0)
		forget_slot(collect, view);
	return 0;
}

static void retire(struct collect *collect, struct slot_view *view, u64 now_ns)
{
	u32 slot = slot_number(collect, view);

	/* A previous process may have retired the slot and then been killed. */
	if (state_of(kernel_owner(collect->settings.kernel, slot)) != SLOT_RETIRED &&
	    kernel_retire(collect->settings.kernel, slot, view->generation) < 0)
		return; /* the bucket is busy: try again later */
	/* `now_ns` is the start of the collection, which may be long ago. */
	if (collect->settings.clock_ns)
		now_ns = collect->settings.clock_ns();
	view->since_ns = now_ns;
	TAILQ_REMOVE(&collect->dead, view, queue);
	TAILQ_INSERT_TAIL(&collect->retired, view, queue);
	/* Another cgroup can get the slot only after KERNEL_REST_NS. By then the tables have rested, too. */
	hot_choices_release(collect->hot, slot, now_ns);
}

int collect_reclaim(struct collect *collect, struct deltas *deltas, u64 grace_ns, u64 now_ns)
{
	int r = 0;

	for (struct slot_view *view = TAILQ_FIRST(&collect->retired), *next; view; view = next) {
		int one;

		next = TAILQ_NEXT(view, queue);
		if (subtract_to_zero(now_ns, view->since_ns) < KERNEL_REST_NS)
			break;
		one = release(collect, view, deltas, now_ns);
		r = one < 0 ? one : r;
	}
	for (struct slot_view *view = TAILQ_FIRST(&collect->dead), *next; view; view = next) {
		next = TAILQ_NEXT(view, queue);
		/* A cgroup may have died after `now_ns` was read. */
		if (subtract_to_zero(now_ns, view->since_ns) >= grace_ns)
			retire(collect, view, now_ns);
	}
	return r;
}
