// SPDX-License-Identifier: GPL-2.0
/*
 * Packed counters, the compact form of struct counters: its nonzero values, seen as a row. Each is two varints: the
 * number of values skipped since the previous one, and the value. Pure functions.
 *
 * Those that are saved for another process, or on disk, have the layout of the counters beside them
 * (counters_layout()).
 */
#ifndef PEBSD_PACKED_H
#define PEBSD_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/varint.h"
#include "collect/counters.h"

/* Large enough for all counters. An index is below COUNTER_COUNT: two bytes. */
#define PACKED_MAX (COUNTER_COUNT * (2 + VARINT_MAX))

/* State of a writer; begins as {.to = buffer}. */
struct packed_writer {
	u8 *to;
	unsigned next; /* number of the counter that follows the last one written */
};

/* Write the counters in ascending order, each at most once, and none with the value 0. */
static inline void packed_put(struct packed_writer *writer, unsigned counter, u64 value)
{
	writer->to = put_varint(writer->to, counter - writer->next);
	writer->to = put_varint(writer->to, value);
	writer->next = counter + 1;
}

/* State of a reader; packed_put() wrote the bytes from `from` to `end`. */
struct packed_reader {
	const u8 *from;
	const u8 *end;
	unsigned next;
};

/* Returns false at the end. */
static inline bool packed_get(struct packed_reader *reader, unsigned *ret_counter, u64 *ret_value)
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

/* Writes `counters` to `to`, PACKED_MAX bytes. Returns the number of bytes written. */
size_t packed_of(const struct counters *counters, u8 *to);

/* Returns true if packed_put() could have written these bytes. Use it for untrusted data. */
bool packed_sound(const u8 *packed, size_t size);

/* sum += the packed counters, each counter saturating at 2^64 - 1. */
void packed_add(const u8 *packed, size_t size, struct counters *sum);

/* A sum of packed counters, with a bit for each counter that is not 0: most are 0. All zero: empty. */
struct packed_sum {
	u64 moved[(COUNTER_COUNT + 63) / 64];
	u64 values[COUNTER_COUNT];
};

/* Adds packed counters, each counter saturating at 2^64 - 1. */
void packed_sum_add(struct packed_sum *sum, const u8 *packed, size_t size);

/* Writes the sum as packed counters to `to`, PACKED_MAX bytes, and empties it. Returns the number of bytes. */
size_t packed_sum_take(struct packed_sum *sum, u8 *to);

/* The sums have the same meaning as in counters.h, but are computed from packed counters. */
u64 packed_samples(const u8 *packed, size_t size);
u64 packed_weight(const u8 *packed, size_t size);

#endif
