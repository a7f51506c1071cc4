// SPDX-License-Identifier: GPL-2.0
/*
 * Writing a hot table (pebsd/hot.h): plain C over one set, for BPF on the NMI path and for tests. Bounded
 * work, no lock: a table has one writer, and a reader who meets a cell half written sees it by its owner.
 */
#ifndef PEBSD_BPF_HOT_H
#define PEBSD_BPF_HOT_H

#include "pebsd/hot.h"

/* The item's cell, or HOT_WAYS where it has none. */
static inline u32 hot_find(const struct hot_set *set, u64 owner, u64 item)
{
	for (u32 way = 0; way < HOT_WAYS; way++)
		if (set->cells[way].owner == owner && set->cells[way].item == item)
			return way;
	return HOT_WAYS;
}

static inline void hot_count(struct hot_set *set, u32 way, u64 weight)
{
	if (way < HOT_WAYS)
		set->cells[way].count += weight;
}

/* The cell whose owner is worth a look: each in turn. */
static inline u32 hot_turn(struct hot_set *set)
{
	u32 way = set->hand;

	if (way >= HOT_WAYS)
		way = 0;
	set->hand = way + 1;
	return way;
}

/* The cell with the least count; an empty one has none. */
static inline u32 hot_least(const struct hot_set *set)
{
	u64 least = set->cells[0].count;
	u32 found = 0;

	for (u32 way = 1; way < HOT_WAYS; way++) {
		if (set->cells[way].count < least) {
			least = set->cells[way].count;
			found = way;
		}
	}
	return found;
}

/*
 * Gives a cell to an item that is in no cell of its set. `gone`: the owner of what is in the cell is no more,
 * so nobody will ask what came of it, and `passed` need not remember.
 */
static inline void hot_replace(struct hot_set *set, u32 way, u64 owner, u64 item, u64 weight, int gone)
{
	struct hot_cell *cell;

	if (way >= HOT_WAYS)
		return;
	cell = &set->cells[way];
	if (!gone && cell->count > set->passed)
		set->passed = cell->count;
	(void)__sync_lock_test_and_set(&cell->owner, 0);
	cell->item = item;
	cell->error = set->passed;
	cell->count = set->passed + weight;
	(void)__sync_lock_test_and_set(&cell->owner, owner);
}

/*
 * Counts one item. `is_gone` tells whether an owner is no more; the cell in turn is asked for at each item
 * that has no cell, so that what removed cgroups left behind is given up in time.
 */
static inline __attribute__((always_inline)) void hot_add(struct hot_set *set, u64 owner, u64 item,
							  u64 weight, int (*is_gone)(u64 owner))
{
	u32 way = hot_find(set, owner, item);

	if (way < HOT_WAYS) {
		hot_count(set, way, weight);
		return;
	}
	way = hot_turn(set);
	if (way < HOT_WAYS && set->cells[way].owner && is_gone(set->cells[way].owner))
		hot_replace(set, way, owner, item, weight, 1);
	else
		hot_replace(set, hot_least(set), owner, item, weight, 0);
}

#endif
