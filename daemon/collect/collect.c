// SPDX-License-Identifier: GPL-2.0
#include "collect.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
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
	u64 samples[EVENTS_MAX]; /* of this owner, as of the last collection */
};

struct collect {
	struct collect_settings settings;
	size_t n_events;
	u32 n_slots;
	struct slot_view *slots;
	u64 slots_free;
	u64 cgroups_alive;
	u64 seen_by_stripe[EVENTS_MAX][STRIPES_MAX];
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
	}
	free(collect->slots);
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
	memset(view->samples, 0, sizeof(view->samples));
	view->owned = true;
	view->alive = true;
	view->cgroup_id = owner->cgroup_id;
	view->generation = owner->generation;
	entry = ledger_find(collect->settings.ledger, path);
	if (entry)
		hold(view, entry, now_ns);
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

/* Where a slot's samples of an event go, with room for them: from there on nothing can fail. */
static int make_room(struct collect *collect, struct slot_view *view, unsigned event, u64 now_ns)
{
	if (!view->entry) {
		struct ledger_entry *entry;
		int r = ledger_get(collect->settings.ledger, view->path, &entry);

		if (r < 0)
			return r;
		hold(view, entry, now_ns);
	}
	return ledger_reserve(view->entry, event);
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
		view->samples[event] += figures_samples(&figures);
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
		if (kernel_retire(collect->settings.kernel, slot, view->generation) == 0)
			view->retired_ns = now_ns;
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
	for (u32 slot = 1; r == 0 && slot < collect->n_slots; slot++)
		r = visit(collect, slot, now_ns);
	if (r < 0)
		return log_error(r, "cannot enter all figures of this collection; the next one takes them");
	return 0;
}

const u64 *collect_seen_by_stripe(const struct collect *collect, unsigned event)
{
	return collect->seen_by_stripe[event];
}

static int add_hot(const struct collect *collect, u32 slot, unsigned event, struct hot_list *list,
		   u64 *samples)
{
	const struct kernel *kernel = collect->settings.kernel;
	const struct slot_view *view = &collect->slots[slot];
	int r;

	r = hot_list_add(list, kernel_hot_table(kernel, 0), kernel_hot_tables(kernel),
			 kernel_hot_seed(kernel), hot_owner(slot, view->generation, event));
	/* After the tables: what they have is in it, but for samples that are being counted. */
	*samples += view->samples[event] + read_slot_pending(kernel, event, slot, &view->bases[event]);
	return r;
}

int collect_hot(const struct collect *collect, const char *path, unsigned event, struct hot_list *ret)
{
	struct hot_list list = {0};
	u64 samples = 0;
	int r = -ENOENT;

	if (event >= collect->n_events ||
	    !kernel_settings(collect->settings.kernel)->events[event].has_code_address)
		return -EOPNOTSUPP;
	for (u32 slot = 1; slot < collect->n_slots && (r == 0 || r == -ENOENT); slot++)
		if (collect->slots[slot].owned && strcmp(collect->slots[slot].path, path) == 0)
			r = add_hot(collect, slot, event, &list, &samples);
	if (r < 0) {
		hot_list_done(&list);
		return r;
	}
	hot_list_finish(&list, samples);
	*ret = list;
	return 0;
}

u64 collect_slots_free(const struct collect *collect)
{
	return collect->slots_free;
}

u64 collect_cgroups_alive(const struct collect *collect)
{
	return collect->cgroups_alive;
}
