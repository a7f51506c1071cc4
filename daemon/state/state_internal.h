// SPDX-License-Identifier: GPL-2.0
/*
 * Shared by the parts of the state: memory (state_memory.c), writing and committing (state.c), and taking
 * over (state_read.c).
 */
#ifndef PEBSD_STATE_INTERNAL_H
#define PEBSD_STATE_INTERNAL_H

#include "state/state.h"

/* A growing list of blocks. */
struct state_units {
	u32 *list;
	size_t n;
	size_t allocated;
};

struct state {
	int fd;
	u8 *memory;  /* address space for the header and STATE_CHUNKS_MAX chunks, of which n_chunks exist */
	u64 next;    /* number of the commit under way */
	int failure; /* first error that state_commit() has not returned yet; 0: none */
	struct state_units free[STATE_SIZES];
	struct state_units replaced; /* replaced by this commit; freed after it */
	struct state_units removals; /* blocks that mark removals; freed after the replaced ones */
	struct state_record *records;
	size_t n_records;
	bool *taken;
};

static inline struct state_header *state_header(const struct state *state)
{
	return (struct state_header *)(void *)state->memory;
}

static inline struct state_block *state_at(const struct state *state, u32 unit)
{
	return (struct state_block *)(void *)(state->memory + (size_t)unit * STATE_UNIT);
}

/* Returns 0 or -ENOMEM. */
int state_units_add(struct state_units *units, u32 unit);

/* Maps the memory of `fd`, and owns `fd` on success. Does not read the memory. Returns 0 or -errno. */
int state_map(int fd, struct state **ret);

/* The size index of the block at `unit`. */
u32 state_size_of(const struct state *state, u32 unit);

/* Allocates a block for a record of `length` bytes. Returns 0 or -errno. */
int state_allocate(struct state *state, size_t length, u32 *ret);
int state_free_block(struct state *state, u32 unit);

/* Frees the listed blocks, and empties the list. Returns 0 or -errno. */
int state_free_all(struct state *state, struct state_units *units);

/* Adds a chunk with blocks of this size index. Returns 0 or -errno. */
int state_grow(struct state *state, u32 size);

#endif
