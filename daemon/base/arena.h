// SPDX-License-Identifier: GPL-2.0
/* An arena: memory for many small allocations that are freed together. */
#ifndef PEBSD_ARENA_H
#define PEBSD_ARENA_H

#include <stddef.h>

struct arena_block;

/* An arena that is all zero is empty. */
struct arena {
	struct arena_block *last;
	size_t used; /* bytes used of the last block */
};

/*
 * Returns zeroed memory, aligned for any type and valid until arena_done(). Returns NULL if there is no
 * memory.
 */
void *arena_take(struct arena *arena, size_t size);
void arena_done(struct arena *arena);

#endif
