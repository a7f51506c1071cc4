// SPDX-License-Identifier: GPL-2.0
/* What the parts of the state share: its memory (state_memory.c), putting and committing (state.c), and
 * taking over (state_read.c). */
#ifndef PEBSD_STATE_PARTS_H
#define PEBSD_STATE_PARTS_H

#include "state/state.h"

/* A list of blocks that grows. */
struct state_units {
	u32 *list;
	size_t n;
	size_t allocated;
};

struct state {
	int fd;
	u8 *memory; /* STATE_HEADER_BYTES and room for STATE_CHUNKS_MAX chunks, of which n_chunks are there */
	u64 next;   /* commit under way */
	int failure;
	struct state_units free[STATE_SIZES];
	struct state_units replaced; /* by this commit: free once it is done */
	struct state_units removals; /* what says so of records; free after those */
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

/* 0 or -ENOMEM. */
int state_units_add(struct state_units *units, u32 unit);

/* Maps the memory of `fd`, which it takes over; nothing is read of it. 0 or -errno. */
int state_map(int fd, struct state **ret);

/* The size of the block that lies there. */
u32 state_size_of(const struct state *state, u32 unit);

/* A free block with room for so many bytes. 0 or -errno. */
int state_allocate(struct state *state, size_t length, u32 *ret);
int state_free_block(struct state *state, u32 unit);

/* Cuts the first chunk that is not there yet. */
int state_grow(struct state *state, u32 size);

#endif
