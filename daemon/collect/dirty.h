// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty bytes (records.h), as the reader takes them: 64 slots at a time, as bits. Pure, on memory whose bytes other
 * programs set.
 */
#ifndef PEBSD_DIRTY_H
#define PEBSD_DIRTY_H

#include <string.h>

#include "pebsd/records.h"

_Static_assert(DIRTY_LINE == 64, "a bit of an u64 for each dirty byte of a line");

/* A bit for each byte that is not 0. */
static inline u64 dirty_bits(u64 bytes)
{
	bytes |= bytes >> 4;
	bytes |= bytes >> 2;
	bytes |= bytes >> 1;
	/* The lowest bit of byte i is moved to bit 56 + i. */
	return (bytes & 0x0101010101010101) * 0x0102040810204080 >> 56;
}

/*
 * Takes the dirty bytes of a line: returns one bit each, and clears them. Exchanges eight at a time, so that a byte
 * that is set concurrently is either taken or stays set. Call dirty_taken() before you read the dirty records.
 */
static inline u64 dirty_take(u8 line[DIRTY_LINE])
{
	typedef u64 four __attribute__((vector_size(32)));
	const volatile four *quick = (const volatile four *)line;
	four any = quick[0] | quick[1];
	u64 *words = (u64 *)line, bits = 0;

	if (!(any[0] | any[1] | any[2] | any[3]))
		return 0;
	for (unsigned i = 0; i < DIRTY_LINE / 8; i++)
		if (__atomic_load_n(&words[i], __ATOMIC_RELAXED))
			bits |= dirty_bits(__atomic_exchange_n(&words[i], 0, __ATOMIC_SEQ_CST)) << 8 * i;
	return bits;
}

/*
 * Barrier between taking dirty bytes and reading records. A writer that finds its byte still set does not set it
 * again; reads after this barrier see the writer's changes.
 */
static inline void dirty_taken(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* NOLINTBEGIN(readability-non-const-parameter): atomics also write */

/* Takes a single dirty byte. Returns whether it was set. */
static inline int dirty_take_one(u8 *dirty)
{
	return __atomic_load_n(dirty, __ATOMIC_RELAXED) && __atomic_exchange_n(dirty, 0, __ATOMIC_SEQ_CST);
}

/* Sets the dirty byte again, because its record was not read after all. */
static inline void dirty_put_back(u8 *dirty)
{
	__atomic_store_n(dirty, 1, __ATOMIC_RELEASE);
}

/* NOLINTEND(readability-non-const-parameter) */

#endif
