// SPDX-License-Identifier: GPL-2.0
/*
 * The building blocks of a profile's tables: arrays that grow within a budget of bytes, and an index from a
 * hash to a position in an array. Entries are never removed. Pure.
 */
#ifndef PEBSD_PROFILE_TABLE_H
#define PEBSD_PROFILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

struct budget {
	u64 used, max;
};

/* All zero is an empty array. */
struct growing {
	void *list;
	size_t n, room;
};

/* Makes room for `more` entries of `size` bytes. Returns 0, -ENOSPC (the budget is exhausted) or -ENOMEM. */
int growing_reserve(struct growing *array, size_t size, size_t more, struct budget *budget);

/* All zero is an empty index. */
struct hash_index {
	u64 *slots; /* upper half of the hash, and place + 1; 0: free */
	size_t n, room;
};

#define HASH_INDEX_NONE 0xffffffffU

/* Returns the place with this hash for which `same` returns true, or HASH_INDEX_NONE. */
u32 hash_index_find(const struct hash_index *index, u64 hash, bool (*same)(const void *userdata, u32 place),
		    const void *userdata);

/* Makes room for one more entry. Returns 0, -ENOSPC or -ENOMEM. */
int hash_index_reserve(struct hash_index *index, struct budget *budget);

/* Adds a place below HASH_INDEX_NONE that is not in the index. The caller must have made room for it. */
void hash_index_add(struct hash_index *index, u64 hash, u32 place);

#endif
