// SPDX-License-Identifier: GPL-2.0
/* Memory for many small things that go together. */
#ifndef PEBSD_ARENA_H
#define PEBSD_ARENA_H

#include <stddef.h>

struct arena_block;

/* All zero is an empty one. */
struct arena {
	struct arena_block *last;
	size_t used; /* of the last block */
};

/* Zeroed memory for anything, until arena_done(). NULL: no memory. */
void *arena_take(struct arena *arena, size_t size);
void arena_done(struct arena *arena);

#endif
