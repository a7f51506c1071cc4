// SPDX-License-Identifier: GPL-2.0
/* What is held, as reading (held.c) and keeping (held_state.c) have it. */
#ifndef PEBSD_HELD_PARTS_H
#define PEBSD_HELD_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/records.h"

/*
 * Records are read while programs add to them, in no order and without a lock: a reading may have half of a
 * sample, and the next one has the rest. Each counter is read once, by an aligned load of a vector register
 * that x86-64 and AArch64 do in halves of 8 bytes at the least, so that no counter is torn; `volatile` keeps
 * the compiler from reading it again.
 */
typedef u32 words __attribute__((vector_size(16)));
typedef u64 wides __attribute__((vector_size(16)));

/* A record as cells, vectors of `words`: those of 64-bit counters first. */
#define LANES         4 /* words of a cell */
#define CELLS(type)   (sizeof(type) / sizeof(words))
#define CELLS_MAX     CELLS(struct latency_record)
#define PRESENT_WORDS ((CELLS_MAX + 63) / 64)

/* A counter that came round: its sum is so many times 2^32 more, or, of 64 bits, past what it can hold. */
struct wrap {
	u32 word;
	u32 times;
};

struct held {
	u64 present[PRESENT_WORDS]; /* cells that it holds: those that ever were not zero */
	u32 stripes;
	u16 n_wraps;
	bool has_latency;
	struct wrap *wraps;
	u32 samples[STRIPES_MAX]; /* as last read, of each stripe, modulo 2^32 */
	words cells[];            /* of those present, in the record's order */
};

static inline size_t held_count(const u64 present[PRESENT_WORDS])
{
	size_t n = 0;

	for (size_t i = 0; i < PRESENT_WORDS; i++)
		n += (size_t)__builtin_popcountll(present[i]);
	return n;
}

static inline size_t held_bytes_for(size_t n_cells)
{
	return sizeof(struct held) + n_cells * sizeof(words);
}

#endif
