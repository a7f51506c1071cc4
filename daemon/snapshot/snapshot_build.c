// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_build.h"

#include <errno.h>
#include <string.h>

#include "collect/packed.h"
#include "snapshot/event_figures.h"
#include "snapshot/snapshot_counters.h"
#include "snapshot/snapshot_rank.h"

/* A snapshot, and the data that it points to and owns. */
struct owned_snapshot {
	struct snapshot snapshot; /* first member: the caller's pointer */
	struct window_sums *sums;
	/* For a window: the counters of `other`, including folded entries. */
	struct counters *other[EVENTS_MAX];
	struct offcore_sums *offcore;
	struct offcore_counts offcore_other; /* the same for off-core counts, also for the whole time */
	struct offcore_counts offcore_total;
};

struct ranked {
	struct snapshot_cgroup cgroup;
	struct snapshot_rank rank;
};

/* Computes counters of the whole time from the entry of the totals. */
static bool make_of_entry(const struct snapshot_cgroup *cgroup, unsigned event, struct counters *ret)
{
	const struct totals_entry *entry = cgroup->made_of;

	if (!entry || !totals_has(entry, event))
		return false;
	totals_counters(entry, event, ret);
	return true;
}

/* Computes counters of a window; `made_of` is the first of the entry's sums. */
static bool make_of_sums(const struct snapshot_cgroup *cgroup, unsigned event, struct counters *ret)
{
	const struct window_sum *sum = cgroup->made_of;

	while (sum && sum->event != event)
		sum = sum->more ? sum + 1 : NULL;
	if (!sum)
		return false;
	memset(ret, 0, sizeof(*ret));
	packed_add(sum->packed, sum->size, ret);
	return true;
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	int order = snapshot_rank_compare(&left->rank, &right->rank);

	return order ? order : strcmp(left->cgroup.path, right->cgroup.path);
}

static void add_total(struct snapshot *snapshot, const struct counters *const counters[EVENTS_MAX])
{
	for (size_t event = 0; event < snapshot->n_events; event++)
		if (counters[event])
			counters_add(&snapshot->events[event].total, counters[event]);
}

static void name_cgroup(const struct snapshot_sources *sources, const struct totals_entry *entry,
			struct ranked *ret)
{
	*ret = (struct ranked){.cgroup = {.path = entry->path,
					  .entry = entry->number,
					  .alive = entry->living > 0,
					  .guest_not_sampled = entry->guest}};
	ret->cgroup.id = sources->synthetic && sources->synthetic(entry->id) ? 0 : entry->id;
}

/*
 * Adds the cgroup's counters to the totals of the events, and to its rank. `scratch` is memory for the counters.
 * Returns false if there are none.
 */
static bool take_cgroup(struct snapshot *snapshot, struct ranked *ranked, struct snapshot_counters *scratch)
{
	bool any = false;

	snapshot_counters_of(snapshot, &ranked->cgroup, scratch);
	for (size_t event = 0; event < EVENTS_MAX; event++)
		any = any || scratch->of[event];
	if (any) {
		add_total(snapshot, scratch->of);
		snapshot_rank_count(&ranked->rank, snapshot, scratch->of);
	}
	return any;
}

static void take_unattributed(struct snapshot *snapshot, const void *made_of,
			      struct snapshot_counters *scratch)
{
	const struct snapshot_cgroup cgroup = {.made_of = made_of};

	snapshot_counters_of(snapshot, &cgroup, scratch);
	add_total(snapshot, scratch->of);
	for (size_t event = 0; event < snapshot->n_events; event++)
		snapshot->events[event].unattributed =
			scratch->of[event] ? counters_samples(scratch->of[event]) : 0;
}

static size_t take_all(struct owned_snapshot *owned, const struct snapshot_sources *sources,
		       struct snapshot_counters *scratch, struct ranked *ret)
{
	const struct totals_entry *other = totals_other(sources->totals);
	struct snapshot *snapshot = &owned->snapshot;
	struct totals_entry *const *entries;
	size_t n_entries, n = 0;

	entries = totals_entries(sources->totals, &n_entries);
	for (size_t i = 0; i <= n_entries; i++) {
		const struct totals_entry *entry = i < n_entries ? entries[i] : other;

		name_cgroup(sources, entry, &ret[n]);
		ret[n].cgroup.made_of = entry;
		n += take_cgroup(snapshot, &ret[n], scratch);
	}
	take_unattributed(snapshot, totals_unattributed(sources->totals), scratch);
	return n;
}

static int add_other(struct owned_snapshot *owned, const struct window_sum *sum)
{
	if (!owned->other[sum->event])
		owned->other[sum->event] = calloc(1, sizeof(*owned->other[sum->event]));
	if (!owned->other[sum->event])
		return -ENOMEM;
	packed_add(sum->packed, sum->size, owned->other[sum->event]);
	return 0;
}

/*
 * Sums and entries are both sorted by number, so one pass over both is enough. Counters of folded entries are
 * added to `other`.
 */
static int take_window(struct owned_snapshot *owned, const struct snapshot_sources *sources,
		       struct snapshot_counters *scratch, struct ranked *ret, size_t *ret_n)
{
	const struct totals_entry *unattributed = totals_unattributed(sources->totals);
	struct snapshot *snapshot = &owned->snapshot;
	struct totals_entry *const *entries;
	size_t n_entries, entry = 0, n = 0;
	int r;

	entries = totals_entries(sources->totals, &n_entries);
	for (size_t i = 0, next; i < owned->sums->n; i = next) {
		const struct window_sum *first = &owned->sums->sums[i];

		for (next = i + 1; owned->sums->sums[next - 1].more;)
			next++;
		while (entry < n_entries && entries[entry]->number < first->entry)
			entry++;
		if (first->entry == unattributed->number) {
			take_unattributed(snapshot, first, scratch);
		} else if (entry < n_entries && entries[entry]->number == first->entry) {
			name_cgroup(sources, entries[entry], &ret[n]);
			ret[n].cgroup.made_of = first;
			n += take_cgroup(snapshot, &ret[n], scratch);
		} else {
			for (size_t event = i; event < next; event++) {
				r = add_other(owned, &owned->sums->sums[event]);
				if (r < 0)
					return r;
			}
		}
	}
	name_cgroup(sources, totals_other(sources->totals), &ret[n]);
	for (size_t event = 0; event < EVENTS_MAX; event++)
		ret[n].cgroup.counters[event] = owned->other[event];
	n += take_cgroup(snapshot, &ret[n], scratch);
	*ret_n = n;
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	u32 left = ((const struct ranked *)a)->cgroup.entry, right = ((const struct ranked *)b)->cgroup.entry;

	return left < right ? -1 : left > right;
}

static struct ranked *ranked_of(struct ranked *ranked, size_t n, u32 entry)
{
	const struct ranked key = {.cgroup.entry = entry};

	return n ? bsearch(&key, ranked, n, sizeof(*ranked), compare_entries) : NULL;
}

/*
 * Assigns off-core counts to cgroups. Cgroups without a sample are appended to the `n` in `ranked`, which has
 * space for every entry. Counts of folded entries are added to `other`. Returns the new number of cgroups.
 */
static size_t take_offcore(struct owned_snapshot *owned, const struct snapshot_sources *sources,
			   struct ranked *ranked, size_t n)
{
	const struct totals_entry *other = totals_other(sources->totals);
	const struct totals_entry *unattributed = totals_unattributed(sources->totals);
	struct snapshot *snapshot = &owned->snapshot;
	size_t n_sampled = n;
	bool any_other = false;

	if (!owned->offcore || owned->offcore->n == 0)
		return n;
	qsort(ranked, n, sizeof(*ranked), compare_entries);
	for (size_t i = 0; i < owned->offcore->n; i++) {
		const struct offcore_sum *sum = &owned->offcore->sums[i];
		const struct totals_entry *entry = totals_numbered(sources->totals, sum->entry);
		struct ranked *found = ranked_of(ranked, n_sampled, sum->entry);

		offcore_counts_add(&owned->offcore_total, &sum->counters);
		if (sum->entry == unattributed->number) {
			snapshot->offcore_unattributed = &sum->counters;
		} else if (!entry || entry == other) {
			offcore_counts_add(&owned->offcore_other, &sum->counters);
			any_other = true;
		} else {
			if (!found) {
				found = &ranked[n++];
				name_cgroup(sources, entry, found);
			}
			found->cgroup.offcore = &sum->counters;
		}
	}
	if (any_other) {
		struct ranked *found = ranked_of(ranked, n_sampled, other->number);

		if (!found) {
			found = &ranked[n++];
			*found = (struct ranked){.cgroup = {.path = other->path, .entry = other->number}};
		}
		found->cgroup.offcore = &owned->offcore_other;
	}
	snapshot->offcore_total = &owned->offcore_total;
	return n;
}

static void take_readings(struct snapshot *snapshot, const struct reading *readings)
{
	for (size_t i = 0; i < snapshot->n_events; i++) {
		struct snapshot_event *event = &snapshot->events[i];

		event_figures_take(event, &readings[i]);
		event->running_ratio.known = reading_running_ratio(&readings[i], &event->running_ratio.value);
	}
}

static int take_cgroups(struct owned_snapshot *owned, const struct snapshot_sources *sources)
{
	_cleanup_free_ struct snapshot_counters *scratch = malloc(sizeof(*scratch));
	_cleanup_free_ struct ranked *ranked = NULL;
	struct snapshot *snapshot = &owned->snapshot;
	size_t n;
	int r;

	(void)totals_entries(sources->totals, &n);
	ranked = calloc(n + 1, sizeof(*ranked));
	if (!scratch || !ranked)
		return -ENOMEM;
	snapshot->make_counters = owned->sums ? make_of_sums : make_of_entry;
	if (owned->sums) {
		r = take_window(owned, sources, scratch, ranked, &n);
		if (r < 0)
			return r;
	} else {
		n = take_all(owned, sources, scratch, ranked);
	}
	n = take_offcore(owned, sources, ranked, n);
	qsort(ranked, n, sizeof(*ranked), compare_ranked);
	snapshot->cgroups = calloc(n + 1, sizeof(*snapshot->cgroups));
	if (!snapshot->cgroups)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		snapshot->cgroups[i] = ranked[i].cgroup;
	snapshot->n_cgroups = n;
	return 0;
}

int offcore_sums_add(struct offcore_sums *sums, u32 entry, const struct offcore_counts *counters)
{
	struct offcore_sum *longer = reallocarray(sums->sums, sums->n + 1, sizeof(*longer));

	if (!longer)
		return -ENOMEM;
	sums->sums = longer;
	sums->sums[sums->n++] = (struct offcore_sum){.entry = entry, .counters = *counters};
	return 0;
}

struct offcore_sums *offcore_sums_free(struct offcore_sums *sums)
{
	if (sums)
		free(sums->sums);
	free(sums);
	return NULL;
}

int snapshot_build(const struct snapshot_sources *sources, struct snapshot **ret)
{
	struct owned_snapshot *owned = calloc(1, sizeof(*owned));
	_cleanup_(snapshot_freep) struct snapshot *snapshot = owned ? &owned->snapshot : NULL;
	int r;

	if (!snapshot) {
		window_sums_free(sources->sums);
		offcore_sums_free(sources->offcore);
		return -ENOMEM;
	}
	*snapshot = *sources->head;
	owned->sums = sources->sums;
	owned->offcore = sources->offcore;
	if (owned->sums) {
		snapshot->since = owned->sums->span.since;
		snapshot->window_seconds = (struct maybe_double){
			.known = true,
			.value = (double)owned->sums->span.covered_ns / (double)NSEC_PER_SEC,
		};
		/* Figures by CPU exist only for the time since the start. */
		for (size_t event = 0; event < EVENTS_MAX; event++) {
			snapshot->events[event].n_per_cpu = 0;
			snapshot->events[event].per_cpu = NULL;
		}
	}
	r = take_cgroups(owned, sources);
	if (r < 0)
		return r;
	take_readings(snapshot, sources->readings);
	*ret = TAKE_PTR(snapshot);
	return 0;
}

static size_t take_guests(const struct snapshot_sources *sources, struct snapshot_cgroup *ret)
{
	struct totals_entry *const *entries;
	size_t n_entries, n = 0;
	struct ranked guest;

	entries = totals_entries(sources->totals, &n_entries);
	for (size_t i = 0; i < n_entries; i++) {
		if (!entries[i]->guest)
			continue;
		if (ret) {
			name_cgroup(sources, entries[i], &guest);
			ret[n] = guest.cgroup;
		}
		n++;
	}
	return n;
}

int snapshot_build_summary(const struct snapshot_sources *sources, const struct counters *of_all,
			   struct snapshot **ret)
{
	struct owned_snapshot *owned = calloc(1, sizeof(*owned));
	_cleanup_(snapshot_freep) struct snapshot *snapshot = owned ? &owned->snapshot : NULL;
	struct counters unattributed;

	if (!snapshot)
		return -ENOMEM;
	*snapshot = *sources->head;
	snapshot->cgroups = calloc(take_guests(sources, NULL) + 1, sizeof(*snapshot->cgroups));
	if (!snapshot->cgroups)
		return -ENOMEM;
	snapshot->n_cgroups = take_guests(sources, snapshot->cgroups);
	for (unsigned event = 0; event < snapshot->n_events; event++) {
		snapshot->events[event].total = of_all[event];
		totals_counters(totals_unattributed(sources->totals), event, &unattributed);
		snapshot->events[event].unattributed = counters_samples(&unattributed);
	}
	take_readings(snapshot, sources->readings);
	*ret = TAKE_PTR(snapshot);
	return 0;
}

struct snapshot *snapshot_free(struct snapshot *snapshot)
{
	struct owned_snapshot *owned = (struct owned_snapshot *)snapshot;

	if (!snapshot)
		return NULL;
	window_sums_free(owned->sums);
	offcore_sums_free(owned->offcore);
	for (size_t event = 0; event < EVENTS_MAX; event++)
		free(owned->other[event]);
	free(snapshot->cgroups);
	free(owned);
	return NULL;
}
