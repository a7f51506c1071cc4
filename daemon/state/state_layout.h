// SPDX-License-Identifier: GPL-2.0
/*
 * The layout of saved records in memory that outlives the process that wrote them.
 *
 * The memory is a header and chunks. A chunk is divided into blocks of one size. A block holds one record,
 * and the number of the commit that it belongs to. A record is never changed in place: its new version is
 * written to another block, and both exist until the commit. So after a kill at any instruction, the next
 * process finds for each record the version of the last completed commit, and nothing of a later one.
 */
#ifndef PEBSD_STATE_LAYOUT_H
#define PEBSD_STATE_LAYOUT_H

#include "pebsd/types.h"

#define STATE_MAGIC   0x6574617473646270ULL /* "pbdstate" */
#define STATE_VERSION 1 /* version of this layout; records have another (struct state_header) */

#define STATE_UNIT         64U /* bytes; blocks begin at multiples of this */
#define STATE_CHUNK_BYTES  (64U << 10)
#define STATE_HEADER_BYTES 4096U
#define STATE_CHUNKS_MAX   2048U /* 128 MiB */

struct state_header {
	u64 magic;
	u32 version;
	u32 records;   /* layout version of the records, set by their owner */
	u64 committed; /* number of the last commit; 0: none. Blocks of a later commit do not count */
	u32 lost;      /* not 0: a record could not be stored, and the state is incomplete */
	u32 n_chunks;
	u8 sizes[STATE_CHUNKS_MAX]; /* size index of the blocks in each chunk, for state_block_bytes() */
};

_Static_assert(sizeof(struct state_header) <= STATE_HEADER_BYTES, "it is the header");

enum state_flag {
	STATE_REMOVED = 1, /* says that the record of this key was removed */
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

/* Bytes of a block of the given size index, below STATE_SIZES; ascending. */
static inline u32 state_block_bytes(u32 size)
{
	static const u16 units[STATE_SIZES] = {1,  2,  3,  4,  5,  6,  7,  8,  10, 12,  14,
					       16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 256};

	return units[size < STATE_SIZES ? size : 0] * STATE_UNIT;
}

/* Maximum length of a record. */
#define STATE_RECORD_MAX (256 * STATE_UNIT - (u32)sizeof(struct state_block))

#endif
