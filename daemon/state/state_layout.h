// SPDX-License-Identifier: GPL-2.0
/*
 * How kept records lie in their memory, which outlives the process that wrote them.
 *
 * The memory is a header and chunks. A chunk is cut into blocks of one size; a block holds one record, and
 * the number of the commit that it is part of. A record is never changed where it lies: its successor is
 * written to another block, and both are there until the commit. So whoever takes the memory over after a
 * kill at any instruction takes, of each record, the last one of a commit that was done, and of the others
 * nothing.
 */
#ifndef PEBSD_STATE_LAYOUT_H
#define PEBSD_STATE_LAYOUT_H

#include "pebsd/types.h"

#define STATE_MAGIC   0x6574617473646270ULL /* "pbdstate" */
#define STATE_VERSION 1 /* of this layout; what records hold has its own (struct state_header) */

#define STATE_UNIT         64U /* blocks begin at multiples of it */
#define STATE_CHUNK_BYTES  (64U << 10)
#define STATE_HEADER_BYTES 4096U
#define STATE_CHUNKS_MAX   2048U /* 128 MiB */

struct state_header {
	u64 magic;
	u32 version;
	u32 records;   /* layout of what records hold, as its owner numbers it */
	u64 committed; /* number of the last commit; 0: none. Blocks of a later one are nobody's */
	u32 lost;      /* not 0: a record found no room, and what is here is no whole any more */
	u32 n_chunks;
	u8 sizes[STATE_CHUNKS_MAX]; /* of the blocks of each chunk: an index of state_block_bytes() */
};

_Static_assert(sizeof(struct state_header) <= STATE_HEADER_BYTES, "it is the header");

enum state_flag {
	STATE_REMOVED = 1, /* in the place of a record that is no more */
};

struct state_block {
	u64 commit; /* 0: the block is free */
	u64 key;
	u16 kind;
	u16 flags;
	u32 length; /* of `bytes` */
	u8 bytes[];
};

_Static_assert(sizeof(struct state_block) == 24, "nothing between them");

#define STATE_SIZES 22

/* Bytes of a block of a size, below STATE_SIZES; ascending. */
static inline u32 state_block_bytes(u32 size)
{
	static const u16 units[STATE_SIZES] = {1,  2,  3,  4,  5,  6,  7,  8,  10, 12,  14,
					       16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 256};

	return units[size < STATE_SIZES ? size : 0] * STATE_UNIT;
}

/* The longest record. */
#define STATE_RECORD_MAX (256 * STATE_UNIT - (u32)sizeof(struct state_block))

#endif
