// SPDX-License-Identifier: GPL-2.0
#include "profile/profile_table.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_FIRST  64
#define STEP_MAX    (1U << 20) /* an array grows by at most these bytes, unless more are needed */
#define SLOTS_FIRST 64

/* Changes an allocation in the budget from `before` to `after` bytes. */
static int take(struct budget *budget, u64 before, u64 after)
{
	if (after > budget->max || budget->used - before > budget->max - after)
		return -ENOSPC;
	budget->used = budget->used - before + after;
	return 0;
}

int growing_reserve(struct growing *array, size_t size, size_t more, struct budget *budget)
{
	size_t room = array->room;
	size_t step = room / 2;
	void *list;
	int r;

	if (more <= room - array->n)
		return 0;
	if (step > STEP_MAX / size)
		step = STEP_MAX / size;
	room += step < ROOM_FIRST ? ROOM_FIRST : step;
	if (room - array->n < more)
		room = array->n + more;
	r = take(budget, array->room * size, room * size);
	if (r < 0)
		return r;
	list = reallocarray(array->list, room, size);
	if (!list) {
		(void)take(budget, room * size, array->room * size);
		return -ENOMEM;
	}
	array->list = list;
	array->room = room;
	return 0;
}

/* The upper half of the hash, which each slot stores, determines the position. */
static size_t slot_of(const u64 *slots, size_t room, u64 hash, bool (*same)(const void *userdata, u32 place),
		      const void *userdata)
{
	u64 part = hash >> 32;
	size_t i = part & (room - 1);

	while (slots[i] && (slots[i] >> 32 != part || !same || !same(userdata, (u32)slots[i] - 1)))
		i = (i + 1) & (room - 1);
	return i;
}

u32 hash_index_find(const struct hash_index *index, u64 hash, bool (*same)(const void *userdata, u32 place),
		    const void *userdata)
{
	/* A free slot (0) gives -1, which is HASH_INDEX_NONE. */
	return index->room ? (u32)index->slots[slot_of(index->slots, index->room, hash, same, userdata)] - 1
			   : HASH_INDEX_NONE;
}

int hash_index_reserve(struct hash_index *index, struct budget *budget)
{
	size_t room = index->room ? 2 * index->room : SLOTS_FIRST;
	u64 *slots;
	int r;

	if (index->n < index->room / 4 * 3)
		return 0;
	r = take(budget, index->room * sizeof(u64), room * sizeof(u64));
	if (r < 0)
		return r;
	slots = calloc(room, sizeof(*slots));
	if (!slots) {
		(void)take(budget, room * sizeof(u64), index->room * sizeof(u64));
		return -ENOMEM;
	}
	for (size_t i = 0; i < index->room; i++)
		if (index->slots[i])
			slots[slot_of(slots, room, index->slots[i], NULL, NULL)] = index->slots[i];
	free(index->slots);
	index->slots = slots;
	index->room = room;
	return 0;
}

void hash_index_add(struct hash_index *index, u64 hash, u32 place)
{
	index->slots[slot_of(index->slots, index->room, hash, NULL, NULL)] =
		(hash & 0xffffffff00000000ULL) | (place + 1);
	index->n++;
}
