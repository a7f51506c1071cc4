// SPDX-License-Identifier: GPL-2.0
#include "snapshot_build.h"

#include <errno.h>
#include <string.h>

/* A snapshot and what it borrows figures from. */
struct owned_snapshot {
	struct snapshot snapshot; /* first: the caller's pointer */
	struct window_sums *sums;
};

static u64 cost_of(const struct snapshot_cgroup *cgroup)
{
	u64 cost = 0;

	for (size_t event = 0; event < EVENTS_MAX; event++) {
		u64 more = cgroup->figures[event] ? figures_weighted_latency(cgroup->figures[event]) : 0;

		cost = cost + more < cost ? ~0ULL : cost + more;
	}
	return cost;
}

static u64 samples_of(const struct snapshot_cgroup *cgroup)
{
	u64 samples = 0;

	for (size_t event = 0; event < EVENTS_MAX; event++)
		samples += cgroup->figures[event] ? figures_samples(cgroup->figures[event]) : 0;
	return samples;
}

static int compare_cgroups(const void *a, const void *b)
{
	const struct snapshot_cgroup *left = a, *right = b;
	u64 left_cost = cost_of(left), right_cost = cost_of(right);
	u64 left_samples, right_samples;

	if (left_cost != right_cost)
		return left_cost < right_cost ? 1 : -1;
	left_samples = samples_of(left);
	right_samples = samples_of(right);
	if (left_samples != right_samples)
		return left_samples < right_samples ? 1 : -1;
	return strcmp(left->path, right->path);
}

static const struct window_sum *sum_of(const struct window_sums *sums, u32 number)
{
	size_t low = 0, high = sums->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sums->sums[middle].entry == number)
			return &sums->sums[middle];
		if (sums->sums[middle].entry < number)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The entry's figures over the time of the snapshot; whether it has any. */
static bool take_figures(const struct snapshot_sources *sources, const struct ledger_entry *entry,
			 const struct figures *ret[EVENTS_MAX])
{
	struct figures *const *figures = entry->total;
	bool any = false;

	if (sources->sums) {
		const struct window_sum *sum = sum_of(sources->sums, entry->number);

		if (!sum)
			return false;
		figures = sum->figures;
	}
	for (size_t event = 0; event < EVENTS_MAX; event++) {
		ret[event] = figures[event];
		any = any || ret[event];
	}
	return any;
}

static void take_cgroup(struct snapshot *snapshot, const struct snapshot_sources *sources,
			const struct ledger_entry *entry)
{
	struct snapshot_cgroup *cgroup = &snapshot->cgroups[snapshot->n_cgroups];

	if (!take_figures(sources, entry, cgroup->figures))
		return;
	cgroup->path = entry->path;
	cgroup->id = sources->synthetic && sources->synthetic(entry->id) ? 0 : entry->id;
	cgroup->alive = entry->living > 0;
	for (size_t event = 0; event < snapshot->n_events; event++)
		if (cgroup->figures[event])
			figures_add(&snapshot->events[event].total, cgroup->figures[event]);
	snapshot->n_cgroups++;
}

static void take_unattributed(struct snapshot *snapshot, const struct snapshot_sources *sources)
{
	const struct figures *figures[EVENTS_MAX];

	if (!take_figures(sources, ledger_unattributed(sources->ledger), figures))
		return;
	for (size_t event = 0; event < snapshot->n_events; event++) {
		if (!figures[event])
			continue;
		figures_add(&snapshot->events[event].total, figures[event]);
		snapshot->events[event].unattributed = figures_samples(figures[event]);
	}
}

static void take_readings(struct snapshot *snapshot, const struct reading *readings)
{
	for (size_t i = 0; i < snapshot->n_events; i++) {
		struct snapshot_event *event = &snapshot->events[i];
		const struct reading *reading = &readings[i];

		event->lost_malformed = reading->malformed;
		event->lost_unexplained = (struct maybe_u64){reading->counted, reading->unexplained};
		event->multiplexed_seconds = (struct maybe_double){
			reading->counted, (double)reading->waiting_ns / (double)NSEC_PER_SEC};
		event->running_ratio.known = reading_running_ratio(reading, &event->running_ratio.value);
	}
}

int snapshot_build(const struct snapshot_sources *sources, struct snapshot **ret)
{
	struct owned_snapshot *owned = calloc(1, sizeof(*owned));
	_cleanup_(snapshot_freep) struct snapshot *snapshot = owned ? &owned->snapshot : NULL;
	struct ledger_entry *const *entries;
	size_t n;

	if (!snapshot) {
		window_sums_free((struct window_sums *)sources->sums);
		return -ENOMEM;
	}
	*snapshot = *sources->head;
	snapshot->cgroups = NULL;
	snapshot->n_cgroups = 0;
	owned->sums = (struct window_sums *)sources->sums;
	if (owned->sums) {
		snapshot->since = owned->sums->span.since;
		snapshot->window_seconds = (struct maybe_double){
			.known = true,
			.value = (double)owned->sums->span.covered_ns / (double)NSEC_PER_SEC,
		};
	}

	entries = ledger_entries(sources->ledger, &n);
	snapshot->cgroups = calloc(n + 1, sizeof(*snapshot->cgroups));
	if (!snapshot->cgroups)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		take_cgroup(snapshot, sources, entries[i]);
	take_cgroup(snapshot, sources, ledger_other(sources->ledger));
	take_unattributed(snapshot, sources);
	take_readings(snapshot, sources->readings);
	qsort(snapshot->cgroups, snapshot->n_cgroups, sizeof(*snapshot->cgroups), compare_cgroups);
	*ret = TAKE_PTR(snapshot);
	return 0;
}

struct snapshot *snapshot_free(struct snapshot *snapshot)
{
	struct owned_snapshot *owned = (struct owned_snapshot *)snapshot;

	if (!snapshot)
		return NULL;
	window_sums_free(owned->sums);
	free(snapshot->cgroups);
	free(owned);
	return NULL;
}
