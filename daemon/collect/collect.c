// SPDX-License-Identifier: GPL-2.0
#include "collect/collect.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>

#include "base/log.h"
#include "collect/collect_internal.h"

/*
 * Minimum time until the next reclaim step. A step that is due already waits for the commit of the state, or it has
 * failed: the kernel refused it, or memory was short.
 */
#define RECLAIM_PAUSE_NS (10 * NSEC_PER_MSEC)

int collect_new(const struct collect_settings *settings, struct collect **ret)
{
	_cleanup_(collect_freep) struct collect *collect = calloc(1, sizeof(*collect));
	u32 lines_max;

	if (!collect)
		return -ENOMEM;
	collect->settings = *settings;
	collect->n_events = kernel_settings(settings->kernel)->n_events;
	collect->n_stripes = kernel_stripes(settings->kernel);
	for (unsigned event = 0; event < collect->n_events; event++)
		for (u32 stripe = 0; stripe < collect->n_stripes; stripe++)
			collect->dirty[event][stripe] = kernel_dirty(settings->kernel, event, stripe);
	TAILQ_INIT(&collect->dead);
	TAILQ_INIT(&collect->retired);
	/* Allocated for the maximum number of slots: the kernel backs only pages that are touched. */
	collect->slots = calloc(kernel_slots_max(settings->kernel), sizeof(*collect->slots));
	if (!collect->slots)
		return -ENOMEM;
	collect_follow_growth(collect);
	lines_max = dirty_row(kernel_slots_max(settings->kernel)) / DIRTY_LINE;
	collect->changed = calloc(lines_max, sizeof(*collect->changed));
	collect->offcore_due = calloc(lines_max, sizeof(*collect->offcore_due));
	if (kernel_offcore(settings->kernel)) {
		collect->offcore_cpus =
			calloc((size_t)lines_max * DIRTY_LINE,
			       offcore_cpus_words(kernel_offcore(settings->kernel)) * sizeof(u64));
		if (!collect->offcore_cpus)
			return -ENOMEM;
	}
	if (!collect->changed || !collect->offcore_due || deltas_new(&collect->deltas) < 0 ||
	    deltas_new(&collect->early) < 0 || hot_choices_new(settings->kernel, &collect->hot) < 0)
		return -ENOMEM;
	collect->slots[SLOT_UNATTRIBUTED].entry = totals_unattributed(settings->totals);
	*ret = TAKE_PTR(collect);
	return 0;
}

struct collect *collect_free(struct collect *collect)
{
	if (!collect)
		return NULL;
	/* The readings in `sums` are not freed here: the entries of the totals own them. */
	for (u32 slot = 0; slot < collect->n_slots; slot++) {
		free(collect->slots[slot].path);
		free(collect->slots[slot].offcore);
	}
	free(collect->slots);
	free(collect->changed);
	free(collect->offcore_due);
	free(collect->offcore_cpus);
	free(collect->early_records);
	deltas_free(collect->deltas);
	deltas_free(collect->early);
	hot_choices_free(collect->hot);
	free(collect);
	return NULL;
}

/* The new collection starts with the deltas that were read since the last one. */
static void begin(struct collect *collect)
{
	struct deltas *last = collect->deltas;

	collect_forget_early(collect);
	totals_begin(collect->settings.totals);
	collect->deltas = collect->early;
	collect->early = last;
	deltas_begin(collect->early);
}

static int collect_once(struct collect *collect, u64 now_ns, bool all)
{
	int noticed, read, reclaimed, r;

	begin(collect);
	/* Run each step, even if the step before failed. */
	noticed = collect_notice(collect, now_ns);
	read = collect_read(collect, now_ns, all || collect->read_all);
	/* Slots whose owner is not noticed yet were not read. */
	if (noticed == 0 && read == 0)
		collect->read_all = false;
	reclaimed = collect_reclaim(collect, collect->deltas, collect->settings.grace_ns, now_ns);
	collect_tend_hot(collect, now_ns);
	r = noticed < 0 ? noticed : read < 0 ? read : reclaimed;
	if (r < 0)
		(void)log_error(
			0,
			"cannot add all counts of this collection: %s; the next collection adds the others",
			strerror(-r));
	return r < 0 ? r : 0;
}

int collect_run(struct collect *collect, u64 now_ns)
{
	return collect_once(collect, now_ns, false);
}

int collect_last(struct collect *collect, u64 now_ns)
{
	return collect_once(collect, now_ns, true);
}

/* The time at which the next reclaim step of any slot is due; 0: no slot is being reclaimed. */
static u64 next_step_ns(const struct collect *collect, u64 grace_ns)
{
	const struct slot_view *view = TAILQ_FIRST(&collect->retired);
	u64 next_ns = view ? view->since_ns + KERNEL_REST_NS : 0;

	TAILQ_FOREACH (view, &collect->dead, queue)
		if (!next_ns || view->since_ns + grace_ns < next_ns)
			next_ns = view->since_ns + grace_ns;
	return next_ns;
}

int collect_reclaim_now(struct collect *collect, u64 now_ns, u64 *ret_again_ns)
{
	u64 grace_ns = MIN(collect->settings.grace_ns, COLLECT_SHORT_GRACE_NS);
	int noticed, reclaimed;

	noticed = collect_notice(collect, now_ns);
	reclaimed = collect_reclaim(collect, collect->early, grace_ns, now_ns);
	*ret_again_ns = next_step_ns(collect, grace_ns);
	if (*ret_again_ns)
		*ret_again_ns = MAX(*ret_again_ns, now_ns + RECLAIM_PAUSE_NS);
	return noticed < 0 ? noticed : reclaimed;
}

const struct deltas *collect_deltas(const struct collect *collect)
{
	return collect->deltas;
}

const struct deltas *collect_early(const struct collect *collect)
{
	return collect->early;
}

const u64 *collect_seen_by_stripe(const struct collect *collect, unsigned event)
{
	return collect->seen_by_stripe[event];
}

u64 collect_slots_free(const struct collect *collect)
{
	return kernel_slots(collect->settings.kernel) - 1 - collect->owned;
}

u64 collect_cgroups_alive(const struct collect *collect)
{
	return collect->alive;
}
