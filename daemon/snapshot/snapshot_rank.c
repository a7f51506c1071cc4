// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_rank.h"

static void add_cost(struct snapshot_rank *rank, u64 cost)
{
	rank->cost = rank->cost + cost < rank->cost ? ~0ULL : rank->cost + cost;
}

void snapshot_rank_count(struct snapshot_rank *rank, const struct snapshot *snapshot,
			 const struct figures *const all[EVENTS_MAX])
{
	for (size_t event = 0; event < snapshot->n_events; event++) {
		if (!all[event])
			continue;
		add_cost(rank, figures_weighted_latency(all[event]));
		rank->samples[snapshot->events[event].event.role] += figures_samples(all[event]);
	}
}

void snapshot_rank_add(struct snapshot_rank *rank, const struct snapshot_rank *addend)
{
	add_cost(rank, addend->cost);
	for (size_t role = 0; role < EVENT_ROLES; role++)
		rank->samples[role] += addend->samples[role];
}

int snapshot_rank_compare(const struct snapshot_rank *left, const struct snapshot_rank *right)
{
	if (left->cost != right->cost)
		return left->cost < right->cost ? 1 : -1;
	/* An instruction is not a load: samples of different roles are not added. */
	for (size_t role = 0; role < EVENT_ROLES; role++)
		if (left->samples[role] != right->samples[role])
			return left->samples[role] < right->samples[role] ? 1 : -1;
	return 0;
}
