// SPDX-License-Identifier: GPL-2.0
/*
 * What the tables of a profile are made of: arrays that grow within a budget of bytes, and an index from hash
 * to place in an array. Entries are never removed. Pure.
 */
#ifndef PEBSD_PROFILE_TABLE_H
#define PEBSD_PROFILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

struct budget {
	u64 used, max;
};

/* All zero is an empty one. */
struct growing {
	void *list;
	size_t n, room;
};

/* Makes room for `more` entries of `size` bytes. 0, -ENOSPC: more than the budget has; -ENOMEM. */
int growing_reserve(struct growing *array, size_t size, size_t more, struct budget *budget);

/* All zero is an empty one. */
struct hash_index {
	u64 *slots; /* hash's upper half and place + 1; 0: free */
	size_t n, room;
};

#define HASH_INDEX_NONE 0xffffffffU

/* The place with this hash for which `same` says that it is the one; HASH_INDEX_NONE. */
u32 hash_index_find(const struct hash_index *index, u64 hash, bool (*same)(const void *userdata, u32 place),
		    const void *userdata);

/* Makes room for one more. 0, -ENOSPC, -ENOMEM. */
int hash_index_reserve(struct hash_index *index, struct budget *budget);

/* Enters a place that is not there yet, below HASH_INDEX_NONE, where room was made for it. */
void hash_index_add(struct hash_index *index, u64 hash, u32 place);

#endif
