// SPDX-License-Identifier: GPL-2.0
/*
 * Marks (records.h), read by who clears them: 64 slots at a time, as bits. Pure; in memory that others set
 * bytes of.
 */
#ifndef PEBSD_MARKS_H
#define PEBSD_MARKS_H

#include <string.h>

#include "pebsd/records.h"

_Static_assert(MARKS_LINE == 64, "a bit of an u64 for each mark of a line");

/* A bit for each byte that is not 0. */
static inline u64 marks_bits(u64 bytes)
{
	bytes |= bytes >> 4;
	bytes |= bytes >> 2;
	bytes |= bytes >> 1;
	/* The lowest bit of byte i comes to bit 56 + i. */
	return (bytes & 0x0101010101010101) * 0x0102040810204080 >> 56;
}

/*
 * Takes the marks of a line: one bit each, and they are cleared. Eight at a time, each exchanged whole, so
 * that a mark set meanwhile is taken or stays. marks_taken() before what was marked is read.
 */
static inline u64 marks_take(u8 line[MARKS_LINE])
{
	typedef u64 four __attribute__((vector_size(32)));
	const volatile four *quick = (const volatile four *)line;
	four any = quick[0] | quick[1];
	u64 *words = (u64 *)line, bits = 0;

	if (!(any[0] | any[1] | any[2] | any[3]))
		return 0;
	for (unsigned i = 0; i < MARKS_LINE / 8; i++)
		if (__atomic_load_n(&words[i], __ATOMIC_RELAXED))
			bits |= marks_bits(__atomic_exchange_n(&words[i], 0, __ATOMIC_SEQ_CST)) << 8 * i;
	return bits;
}

/* Whoever found a mark set where it was about to set it had written before: what it wrote is read from here
 * on. */
static inline void marks_taken(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* NOLINTBEGIN(readability-non-const-parameter): atomics write, too */

/* One mark alone. Returns whether it was set. */
static inline int marks_take_one(u8 *mark)
{
	return __atomic_load_n(mark, __ATOMIC_RELAXED) && __atomic_exchange_n(mark, 0, __ATOMIC_SEQ_CST);
}

/* What it stands for was not read after all. */
static inline void marks_put_back(u8 *mark)
{
	__atomic_store_n(mark, 1, __ATOMIC_RELEASE);
}

/* NOLINTEND(readability-non-const-parameter) */

#endif
