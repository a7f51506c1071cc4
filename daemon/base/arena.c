// SPDX-License-Identifier: GPL-2.0
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

#define BLOCK_BYTES (256U << 10)

struct arena_block {
	struct arena_block *before;
	size_t size;
	max_align_t bytes[];
};

void *arena_take(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->last;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (!block || block->size - arena->used < size) {
		size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;

		block = calloc(1, sizeof(*block) + bytes);
		if (!block)
			return NULL;
		block->before = arena->last;
		block->size = bytes;
		arena->last = block;
		arena->used = 0;
	}
	arena->used += size;
	return (char *)block->bytes + arena->used - size;
}

void arena_done(struct arena *arena)
{
	while (arena->last) {
		struct arena_block *before = arena->last->before;

		free(arena->last);
		arena->last = before;
	}
	arena->used = 0;
}
