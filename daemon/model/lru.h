// SPDX-License-Identifier: GPL-2.0
/*
 * Set-associative storage with true LRU replacement, for caches, TLBs and a directory. A set is sorted by
 * last use, so its last entry is replaced next. Inline, because the model spends most of its time here.
 */
#ifndef PEBSD_MODEL_LRU_H
#define PEBSD_MODEL_LRU_H

#include "freestanding.h"

/* Two bits of an entry are flags for the caller, the others are the key. Key 0 marks an empty place. */
#define LRU_KEY     (~0ULL >> 2)
#define LRU_FLAG(n) (1ULL << (62 + (n)))

struct lru {
	u64 *entries; /* set after set; owned by the caller */
	u64 multiplier;
	u32 mask; /* sets - 1 */
	u32 ways; /* 0: holds nothing */
	u8 shift;
};

static inline u64 *lru_set(const struct lru *lru, u64 key)
{
	size_t set = (u32)(key * lru->multiplier >> lru->shift) & lru->mask;

	return &lru->entries[set * lru->ways];
}

/*
 * Returns the entry of `key` and makes it the most recently used one, or returns NULL. Valid until the next
 * call.
 */
static inline u64 *lru_find(const struct lru *lru, u64 key)
{
	u64 *set = lru_set(lru, key);

	for (u32 way = 0; way < lru->ways; way++) {
		u64 entry = set[way];

		if ((entry & LRU_KEY) != key)
			continue;
		for (; way > 0; way--)
			set[way] = set[way - 1];
		set[0] = entry;
		return set;
	}
	return NULL;
}

/* Adds an entry that is not present. Replaces the least recently used entry of its set. */
static inline void lru_put(const struct lru *lru, u64 entry)
{
	u64 *set = lru_set(lru, entry & LRU_KEY);

	if (!lru->ways)
		return;
	for (u32 way = lru->ways - 1; way > 0; way--)
		set[way] = set[way - 1];
	set[0] = entry;
}

/* Removes the entry of `key` if there is one. */
static inline void lru_remove(const struct lru *lru, u64 key)
{
	u64 *set = lru_find(lru, key);

	if (!set)
		return;
	for (u32 way = 1; way < lru->ways; way++)
		set[way - 1] = set[way];
	set[lru->ways - 1] = 0;
}

#endif
