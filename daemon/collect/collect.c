// SPDX-License-Identifier: GPL-2.0
#include "collect.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "collect/read_offcore.h"
#include "collect/read_slot.h"

/* What the collection knows of a slot. */
struct slot_view {
	u32 generation;
	bool learned; /* its owner's name is in the tree of names */
	bool owned;   /* has an owner that was noticed and not yet let go */
	bool alive;
	u64 cgroup_id;
	u64 retired_ns;
	char *path;
	struct ledger_entry *entry; /* NULL until the first sample, unless the path has one already */
	struct slot_base bases[EVENTS_MAX];
	struct offcore_base *offcore; /* NULL: nothing counted yet */
};

struct collect {
	struct collect_settings settings;
	size_t n_events;
	u32 n_slots;
	struct slot_view *slots;
	u64 slots_free;
	u64 cgroups_alive;
	u64 seen_by_stripe[EVENTS_MAX][STRIPES_MAX];
	struct hot_choices *hot;
	bool review_hot; /* what the configuration chooses may be other cgroups than those that have tables */
	bool hot_short;  /* told of: it chooses more than there are tables */
};

int collect_new(const struct collect_settings *settings, struct collect **ret)
{
	_cleanup_(collect_freep) struct collect *collect = calloc(1, sizeof(*collect));

	if (!collect)
		return -ENOMEM;
	collect->settings = *settings;
	collect->n_events = kernel_settings(settings->kernel)->n_events;
	collect->slots = calloc(kernel_settings(settings->kernel)->slots, sizeof(*collect->slots));
	if (!collect->slots)
		return -ENOMEM;
	collect->n_slots = kernel_settings(settings->kernel)->slots;
	if (hot_choices_new(settings->kernel, &collect->hot) < 0)
		return -ENOMEM;
	collect->slots[SLOT_UNATTRIBUTED].entry = ledger_unattributed(settings->ledger);
	*ret = TAKE_PTR(collect);
	return 0;
}

struct collect *collect_free(struct collect *collect)
{
	if (!collect)
		return NULL;
	for (u32 slot = 0; slot < collect->n_slots; slot++) {
		free(collect->slots[slot].path);
		for (size_t event = 0; event < EVENTS_MAX; event++)
			slot_base_free(&collect->slots[slot].bases[event]);
		free(collect->slots[slot].offcore);
	}
	free(collect->slots);
	hot_choices_free(collect->hot);
	free(collect);
	return NULL;
}

static enum slot_state state_of(const struct slot_owner *owner)
{
	return __atomic_load_n(&owner->state, __ATOMIC_ACQUIRE);
}

static void hold(struct slot_view *view, struct ledger_entry *entry, u64 now_ns)
{
	view->entry = entry;
	entry->id = view->cgroup_id;
	entry->holders++;
	if (view->alive)
		entry->living++;
	else if (!entry->living)
		entry->died_ns = now_ns; /* born and removed since the last collection */
}

static void let_die(struct slot_view *view, u64 now_ns)
{
	view->alive = false;
	if (view->entry && --view->entry->living == 0)
		view->entry->died_ns = now_ns;
}

/* Enters the names of all new owners first, so that a child's path can be built whatever its slot's number.
 */
static int learn_names(struct collect *collect)
{
	for (u32 slot = 1; slot < collect->n_slots; slot++) {
		const struct slot_owner *owner = kernel_owner(collect->settings.kernel, slot);
		int r;

		if (state_of(owner) == SLOT_FREE || collect->slots[slot].learned)
			continue;
		r = names_add(collect->settings.names, owner->cgroup_id, owner->parent_id, owner->name);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			(void)log_warning(r, "cannot enter the name of cgroup %llu; it is shown by its id",
					  (unsigned long long)owner->cgroup_id);
		collect->slots[slot].learned = true;
	}
	return 0;
}

static void choose_hot(struct collect *collect, u32 slot, const char *path, u64 now_ns)
{
	const struct collect_settings *settings = &collect->settings;
	int r;

	if (!settings->hot || kernel_hot_max(settings->kernel) == 0 ||
	    !settings->hot(path, settings->hot_userdata))
		return;
	r = hot_choices_choose(collect->hot, slot, path, 0, now_ns);
	if (r >= 0 || collect->hot_short || hot_choices_resting(collect->hot))
		return;
	collect->hot_short = true;
	(void)log_warning(r == -ENOSPC ? 0 : r,
			  "[cgroups] hot names more cgroups than there are tables for: %s and further ones "
			  "have none; raise hot-max, which is %u, or name fewer",
			  path, kernel_hot_max(settings->kernel));
}

/* Cgroups that the configuration no longer names make room for those that it does. */
static void review_hot(struct collect *collect, u64 now_ns)
{
	const struct collect_settings *settings = &collect->settings;

	for (u32 slot = 1; slot < collect->n_slots; slot++) {
		const struct slot_view *view = &collect->slots[slot];
		bool configured;

		if (view->owned && hot_choices_has(collect->hot, slot, &configured) && configured &&
		    !(settings->hot && settings->hot(view->path, settings->hot_userdata)))
			hot_choices_unconfigure(collect->hot, slot, now_ns);
	}
	for (u32 slot = 1; slot < collect->n_slots; slot++)
		if (collect->slots[slot].owned && collect->slots[slot].alive)
			choose_hot(collect, slot, collect->slots[slot].path, now_ns);
}

static int notice_birth(struct collect *collect, u32 slot, const struct slot_owner *owner, u64 now_ns)
{
	const struct collect_listener *listener = &collect->settings.listener;
	struct slot_view *view = &collect->slots[slot];
	struct ledger_entry *entry;
	char *path;
	int r;

	r = names_path(collect->settings.names, owner->cgroup_id, &path);
	if (r < 0)
		return r;
	free(view->path);
	view->path = path;
	view->owned = true;
	view->alive = true;
	view->cgroup_id = owner->cgroup_id;
	view->generation = owner->generation;
	entry = ledger_find(collect->settings.ledger, path);
	if (entry)
		hold(view, entry, now_ns);
	choose_hot(collect, slot, path, now_ns);
	if (listener->born)
		listener->born(listener->userdata, view->path, view->cgroup_id);
	return 0;
}

static void notice_death(struct collect *collect, struct slot_view *view, u64 now_ns)
{
	const struct collect_listener *listener = &collect->settings.listener;

	let_die(view, now_ns);
	if (listener->gone)
		listener->gone(listener->userdata, view->path, view->cgroup_id);
}

static int need_entry(struct collect *collect, struct slot_view *view, u64 now_ns)
{
	struct ledger_entry *entry;
	int r;

	if (view->entry)
		return 0;
	r = ledger_get(collect->settings.ledger, view->path, &entry);
	if (r < 0)
		return r;
	hold(view, entry, now_ns);
	return 0;
}

/* Where a slot's samples of an event go, with room for them: from there on nothing can fail. */
static int make_room(struct collect *collect, struct slot_view *view, unsigned event, u64 now_ns)
{
	int r = need_entry(collect, view, now_ns);

	return r < 0 ? r : ledger_reserve(view->entry, event);
}

static int read_counted(struct collect *collect, u32 slot, u64 now_ns)
{
	const struct kernel_offcore *offcore = kernel_offcore(collect->settings.kernel);
	struct slot_view *view = &collect->slots[slot];
	struct offcore_figures difference;
	int r;

	if (!offcore || !read_offcore_moved(offcore, slot, view->offcore))
		return 0;
	r = need_entry(collect, view, now_ns);
	if (r == 0)
		r = ledger_reserve_offcore(view->entry);
	if (r == 0)
		r = read_offcore(offcore, slot, &view->offcore, &difference);
	if (r == 0)
		ledger_add_offcore(view->entry, &difference);
	return r;
}

static int read_events(struct collect *collect, u32 slot, u64 now_ns)
{
	const struct kernel *kernel = collect->settings.kernel;
	struct slot_view *view = &collect->slots[slot];
	struct figures figures;

	for (unsigned event = 0; event < collect->n_events; event++) {
		int r;

		if (!read_slot_moved(kernel, event, slot, &view->bases[event]))
			continue;
		r = make_room(collect, view, event, now_ns);
		if (r == 0)
			r = read_slot(kernel, event, slot, &view->bases[event], &figures,
				      collect->seen_by_stripe[event]);
		if (r < 0)
			return r;
		ledger_add(view->entry, event, &figures);
	}
	return 0;
}

enum slot_step collect_next_step(enum slot_state state, u64 since_ns, u64 now_ns, u64 grace_ns)
{
	u64 elapsed = now_ns > since_ns ? now_ns - since_ns : 0;

	if (state == SLOT_DEAD && elapsed >= grace_ns)
		return SLOT_STEP_RETIRE;
	if (state == SLOT_RETIRED && elapsed >= COLLECT_REST_NS)
		return SLOT_STEP_GIVE;
	return SLOT_STEP_NONE;
}

static void let_go(struct collect *collect, struct slot_view *view)
{
	if (view->entry)
		view->entry->holders--;
	names_remove(collect->settings.names, view->cgroup_id);
	free(view->path);
	view->path = NULL;
	view->entry = NULL;
	view->owned = view->learned = false;
}

/* A step that the kernel refuses for now (a busy bucket) is taken at a later collection. */
static void lead_back(struct collect *collect, u32 slot, const struct slot_owner *owner,
		      enum slot_state state, u64 now_ns)
{
	struct slot_view *view = &collect->slots[slot];
	u64 since_ns = state == SLOT_DEAD ? owner->died_ns : view->retired_ns;

	switch (collect_next_step(state, since_ns, now_ns, collect->settings.grace_ns)) {
	case SLOT_STEP_RETIRE:
		if (kernel_retire(collect->settings.kernel, slot, view->generation) == 0) {
			view->retired_ns = now_ns;
			/* Long before another can have the slot: that takes as long as a rest. */
			hot_choices_release(collect->hot, slot, now_ns);
		}
		break;
	case SLOT_STEP_GIVE:
		if (kernel_give(collect->settings.kernel, slot, view->generation) == 0)
			let_go(collect, view);
		break;
	case SLOT_STEP_NONE:
		break;
	}
}

static int visit(struct collect *collect, u32 slot, u64 now_ns)
{
	const struct slot_owner *owner = kernel_owner(collect->settings.kernel, slot);
	struct slot_view *view = &collect->slots[slot];
	/* Read before the counters: a slot that is retired here gets no sample after they are read. */
	enum slot_state state = state_of(owner);
	int r;

	if (state == SLOT_FREE) {
		collect->slots_free++;
		return 0;
	}
	if (!view->owned) {
		/* Born since the names were learned: the next collection has both. */
		if (collect->settings.names_from_slots && !view->learned)
			return 0;
		r = notice_birth(collect, slot, owner, now_ns);
		if (r < 0)
			return r;
	}
	if (view->alive && state != SLOT_ALIVE)
		notice_death(collect, view, now_ns);
	if (view->alive)
		collect->cgroups_alive++;
	r = read_events(collect, slot, now_ns);
	if (r == 0)
		r = read_counted(collect, slot, now_ns);
	if (r < 0)
		return r;
	lead_back(collect, slot, owner, state, now_ns);
	return 0;
}

int collect_run(struct collect *collect, u64 now_ns)
{
	int r = 0;

	ledger_begin(collect->settings.ledger);
	collect->slots_free = collect->cgroups_alive = 0;
	if (collect->settings.names_from_slots)
		r = learn_names(collect);
	if (r == 0)
		r = read_events(collect, SLOT_UNATTRIBUTED, now_ns);
	if (r == 0)
		r = read_counted(collect, SLOT_UNATTRIBUTED, now_ns);
	for (u32 slot = 1; r == 0 && slot < collect->n_slots; slot++)
		r = visit(collect, slot, now_ns);
	if (hot_choices_tend(collect->hot, now_ns) || collect->review_hot) {
		collect->review_hot = false;
		review_hot(collect, now_ns);
	}
	if (r < 0)
		return log_error(r, "cannot enter all figures of this collection; the next one takes them");
	return 0;
}

const u64 *collect_seen_by_stripe(const struct collect *collect, unsigned event)
{
	return collect->seen_by_stripe[event];
}

int collect_hot_choose(struct collect *collect, const char *path, u64 until_ns, u64 now_ns)
{
	int r = -ENOENT;

	if (kernel_hot_max(collect->settings.kernel) == 0)
		return -EOPNOTSUPP;
	for (u32 slot = 1; slot < collect->n_slots && (r == 0 || r == -ENOENT); slot++)
		if (collect->slots[slot].owned && collect->slots[slot].alive &&
		    strcmp(collect->slots[slot].path, path) == 0)
			r = hot_choices_choose(collect->hot, slot, path, until_ns, now_ns);
	return r;
}

int collect_hot_places(const struct collect *collect, const char *path, unsigned event, enum hot_kind kind,
		       struct hot_places *ret)
{
	int r = hot_choices_places(collect->hot, path, event, kind, ret);

	if (r != -ENODATA)
		return r;
	for (u32 slot = 1; slot < collect->n_slots; slot++)
		if (collect->slots[slot].owned && strcmp(collect->slots[slot].path, path) == 0)
			return -ENODATA;
	return -ENOENT;
}

const struct hot_choices *collect_hot(const struct collect *collect)
{
	return collect->hot;
}

void collect_set_hot(struct collect *collect, bool (*chosen)(const char *path, void *userdata),
		     void *userdata)
{
	collect->settings.hot = chosen;
	collect->settings.hot_userdata = userdata;
	collect->review_hot = true;
	collect->hot_short = false;
}

void collect_adopted(struct collect *collect, u32 slot, const char *path, u64 now_ns)
{
	choose_hot(collect, slot, path, now_ns);
}

u64 collect_slots_free(const struct collect *collect)
{
	return collect->slots_free;
}

u64 collect_cgroups_alive(const struct collect *collect)
{
	return collect->cgroups_alive;
}
