// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_rank.h"

enum snapshot_samples snapshot_samples_of(const struct event *event)
{
	static const enum snapshot_samples kinds[EVENT_ROLES] = {
		[EVENT_LOADS] = SAMPLES_LOADS,
		[EVENT_STORES] = SAMPLES_STORES,
		[EVENT_INSTRUCTIONS] = SAMPLES_INSTRUCTIONS,
		[EVENT_OFFCORE] = SAMPLES_KINDS,
		[EVENT_CYCLES] = SAMPLES_CYCLES,
		[EVENT_STALLS] = SAMPLES_STALLS,
		[EVENT_MISSES] = SAMPLES_MISSES,
	};

	return event->role < EVENT_ROLES ? kinds[event->role] : SAMPLES_KINDS;
}

static void add_cost(struct snapshot_rank *rank, u64 cost)
{
	rank->cost = rank->cost + cost < rank->cost ? ~0ULL : rank->cost + cost;
}

void snapshot_rank_count(struct snapshot_rank *rank, const struct snapshot *snapshot,
			 const struct counters *const all[EVENTS_MAX])
{
	for (size_t event = 0; event < snapshot->n_events; event++) {
		enum snapshot_samples kind = snapshot_samples_of(&snapshot->events[event].event);

		if (!all[event] || kind == SAMPLES_KINDS)
			continue;
		add_cost(rank, counters_weighted_latency(all[event]));
		rank->samples[kind] += counters_samples(all[event]);
	}
}

void snapshot_rank_add(struct snapshot_rank *rank, const struct snapshot_rank *addend)
{
	add_cost(rank, addend->cost);
	for (size_t kind = 0; kind < SAMPLES_KINDS; kind++)
		rank->samples[kind] += addend->samples[kind];
}

int snapshot_rank_compare(const struct snapshot_rank *left, const struct snapshot_rank *right)
{
	if (left->cost != right->cost)
		return left->cost < right->cost ? 1 : -1;
	for (size_t kind = 0; kind < SAMPLES_KINDS; kind++)
		if (left->samples[kind] != right->samples[kind])
			return left->samples[kind] < right->samples[kind] ? 1 : -1;
	return 0;
}
