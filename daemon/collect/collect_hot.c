// SPDX-License-Identifier: GPL-2.0
/* Hot tables of the cgroups that have slots: who gets them, and what is in them. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "collect/collect_internal.h"

void collect_adopted(struct collect *collect, u32 slot, const char *path, u64 now_ns)
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
	if (r != -ENOSPC) {
		(void)log_warning(
			0,
			"cannot create hot tables for %s, which `hot` in [cgroups] selects, and perhaps for other cgroups: %s%s",
			path, strerror(-r),
			r == -EMFILE ? "; raise LimitNOFILE= of the unit, or name fewer cgroups"
			: r == -ENOMEM
				? "; give pebsd more memory (MemoryMax= of the unit), or name fewer cgroups"
				: "");
		return;
	}
	(void)log_warning(
		0,
		"no hot tables are free for %s, which `hot` in [cgroups] selects, and perhaps for other cgroups: hot-max is %u; raise it and restart pebsd, or name fewer cgroups",
		path, kernel_hot_max(settings->kernel));
}

/*
 * First releases the tables of cgroups that the configuration no longer chooses. Once these tables have rested,
 * they are free for the cgroups that it chooses.
 */
static void review_hot(struct collect *collect, u64 now_ns)
{
	const struct collect_settings *settings = &collect->settings;

	for (u32 slot = 1; slot < collect->n_slots; slot++) {
		const struct slot_view *view = &collect->slots[slot];
		bool configured;

		if (view->owned && hot_choices_has(collect->hot, slot, &configured) && configured &&
		    !(settings->hot && settings->hot(view_path(view), settings->hot_userdata)))
			hot_choices_unconfigure(collect->hot, slot, now_ns);
	}
	for (u32 slot = 1; slot < collect->n_slots && settings->hot; slot++)
		if (collect->slots[slot].owned && collect->slots[slot].alive)
			collect_adopted(collect, slot, view_path(&collect->slots[slot]), now_ns);
}

void collect_tend_hot(struct collect *collect, u64 now_ns)
{
	if (!hot_choices_tend(collect->hot, now_ns) && !collect->review_hot)
		return;
	collect->review_hot = false;
	review_hot(collect, now_ns);
}

int collect_hot_choose(struct collect *collect, const char *path, u64 until_ns, u64 now_ns)
{
	int r = -ENOENT;

	if (kernel_hot_max(collect->settings.kernel) == 0)
		return -EOPNOTSUPP;
	for (u32 slot = 1; slot < collect->n_slots && (r == 0 || r == -ENOENT); slot++)
		if (collect->slots[slot].owned && collect->slots[slot].alive &&
		    strcmp(view_path(&collect->slots[slot]), path) == 0)
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
		if (collect->slots[slot].owned && strcmp(view_path(&collect->slots[slot]), path) == 0)
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
