// SPDX-License-Identifier: GPL-2.0
#include "history/keeper/row_data.h"

#include <string.h>

#include "collect/pairs.h"
#include "state/state_bytes.h"

bool row_data_get(struct row_reader *reader, struct row_part *ret)
{
	u64 size;

	if (reader->from == reader->end)
		return false;
	reader->from = get_varint(reader->from, &ret->event);
	reader->from = get_varint(reader->from, &size);
	ret->size = (u32)size;
	ret->pairs = reader->from;
	reader->from += size;
	return true;
}

u8 *row_data_put(u8 *to, const struct row_part *part)
{
	to = put_varint(to, part->event);
	to = put_varint(to, part->size);
	memcpy(to, part->pairs, part->size);
	return to + part->size;
}

bool row_data_sound(const u8 *data, size_t size)
{
	struct state_reader reader = {.from = data, .end = data + size};
	u64 previous = 0;

	while (!reader.bad && reader.from != reader.end) {
		u64 event = state_get_number(&reader);
		u64 bytes = state_get_number(&reader);

		if (reader.bad || event <= previous || bytes == 0 || bytes > PAIRS_MAX ||
		    bytes > (size_t)(reader.end - reader.from) || !pairs_sound(reader.from, bytes))
			return false;
		reader.from += bytes;
		previous = event;
	}
	return !reader.bad;
}

static u64 add_saturating(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? ~0ULL : sum;
}

/* Adds up the pairs of one event; `to` has as many bytes as both. Returns the number of bytes written. */
static size_t merge_pairs(const u8 *a, size_t n_a, const u8 *b, size_t n_b, u8 *to)
{
	struct pairs_reader of_a = {.from = a, .end = a + n_a}, of_b = {.from = b, .end = b + n_b};
	struct pairs_writer writer = {.to = to};
	unsigned at_a = 0, at_b = 0;
	u64 value_a = 0, value_b = 0;
	bool more_a = pairs_get(&of_a, &at_a, &value_a), more_b = pairs_get(&of_b, &at_b, &value_b);

	while (more_a || more_b) {
		bool use_a = more_a && (!more_b || at_a <= at_b);
		bool use_b = more_b && (!more_a || at_b <= at_a);

		pairs_put(&writer, use_a ? at_a : at_b,
			  add_saturating(use_a ? value_a : 0, use_b ? value_b : 0));
		if (use_a)
			more_a = pairs_get(&of_a, &at_a, &value_a);
		if (use_b)
			more_b = pairs_get(&of_b, &at_b, &value_b);
	}
	return (size_t)(writer.to - to);
}

/* Both have the event. The size stands before the pairs, so these are made in a buffer first. */
static u8 *merge_part(u8 *to, const struct row_part *a, const struct row_part *b)
{
	u8 pairs[PAIRS_MAX];
	size_t size;

	if (a->size + b->size > sizeof(pairs)) {
		struct figures sum = {0};

		pairs_add(a->pairs, a->size, &sum);
		pairs_add(b->pairs, b->size, &sum);
		size = pairs_of(&sum, pairs);
	} else {
		size = merge_pairs(a->pairs, a->size, b->pairs, b->size, pairs);
	}
	return row_data_put(to, &(struct row_part){a->event, pairs, (u32)size});
}

size_t row_data_merge(const u8 *a, size_t n_a, const u8 *b, size_t n_b, u8 *to)
{
	struct row_reader of_a = {.from = a, .end = a + n_a}, of_b = {.from = b, .end = b + n_b};
	struct row_part part_a = {0}, part_b = {0};
	bool more_a = row_data_get(&of_a, &part_a), more_b = row_data_get(&of_b, &part_b);
	u8 *start = to;

	while (more_a || more_b) {
		bool use_a = more_a && (!more_b || part_a.event <= part_b.event);
		bool use_b = more_b && (!more_a || part_b.event <= part_a.event);

		if (use_a && use_b)
			to = merge_part(to, &part_a, &part_b);
		else
			to = row_data_put(to, use_a ? &part_a : &part_b);
		if (use_a)
			more_a = row_data_get(&of_a, &part_a);
		if (use_b)
			more_b = row_data_get(&of_b, &part_b);
	}
	return (size_t)(to - start);
}
