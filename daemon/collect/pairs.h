// SPDX-License-Identifier: GPL-2.0
/*
 * Figures in few bytes: of the counters of struct figures, as a row, those that are not zero, each as two
 * varints: how many were passed over since the one before, and its value. Pure.
 */
#ifndef PEBSD_PAIRS_H
#define PEBSD_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/varint.h"
#include "collect/figures.h"

/* Room for any figures. An index is below FIGURES_COUNTERS: two bytes. */
#define PAIRS_MAX (FIGURES_COUNTERS * (2 + VARINT_MAX))

/* Where a writer is; begins as {.to = room}. */
struct pairs_writer {
	u8 *to;
	unsigned next; /* counter that would be passed over by none */
};

/* Counters come in ascending order, each once, none of them 0. */
static inline void pairs_put(struct pairs_writer *writer, unsigned counter, u64 value)
{
	writer->to = put_varint(writer->to, counter - writer->next);
	writer->to = put_varint(writer->to, value);
	writer->next = counter + 1;
}

/* Where a reader is; `from` to `end` was written by pairs_put(). */
struct pairs_reader {
	const u8 *from;
	const u8 *end;
	unsigned next;
};

/* Whether there was another. */
static inline bool pairs_get(struct pairs_reader *reader, unsigned *ret_counter, u64 *ret_value)
{
	u64 passed;

	if (reader->from == reader->end)
		return false;
	reader->from = get_varint(reader->from, &passed);
	reader->from = get_varint(reader->from, ret_value);
	*ret_counter = reader->next + (unsigned)passed;
	reader->next = *ret_counter + 1;
	return true;
}

/* Writes all of `figures` to `to`, which has room for PAIRS_MAX bytes. Returns how many it took. */
size_t pairs_of(const struct figures *figures, u8 *to);

/* Whether they are pairs that pairs_put() could have written. For what comes from outside. */
bool pairs_sound(const u8 *pairs, size_t size);

/* sum += what the pairs hold, each counter saturating at 2^64 - 1. */
void pairs_add(const u8 *pairs, size_t size, struct figures *sum);

/* The sums of figures.h, from pairs. */
u64 pairs_samples(const u8 *pairs, size_t size);
u64 pairs_weighted_latency(const u8 *pairs, size_t size);

#endif
