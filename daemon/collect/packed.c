// SPDX-License-Identifier: GPL-2.0
#include "collect/packed.h"

#include "state/state_bytes.h"

size_t packed_of(const struct counters *counters, u8 *to)
{
	const u64 *values = (const u64 *)counters;
	struct packed_writer writer = {.to = to};

	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		if (values[i])
			packed_put(&writer, i, values[i]);
	return (size_t)(writer.to - to);
}

bool packed_sound(const u8 *packed, size_t size)
{
	struct state_reader reader = {.from = packed, .end = packed + size};
	u64 next = 0;

	while (!reader.bad && reader.from != reader.end) {
		u64 passed = state_get_number(&reader);

		if (passed >= COUNTER_COUNT || state_get_number(&reader) == 0)
			return false;
		next += passed + 1;
		if (next > COUNTER_COUNT)
			return false;
	}
	return !reader.bad;
}

void packed_add(const u8 *packed, size_t size, struct counters *sum)
{
	/* If there are no packed counters, `packed` may be NULL. */
	struct packed_reader reader = {.from = packed, .end = size > 0 ? packed + size : packed};
	u64 *values = (u64 *)sum;
	unsigned counter;
	u64 value;

	while (packed_get(&reader, &counter, &value))
		values[counter] = add_saturating(values[counter], value);
}

void packed_sum_add(struct packed_sum *sum, const u8 *packed, size_t size)
{
	struct packed_reader reader = {.from = packed, .end = packed + size};
	unsigned counter;
	u64 value;

	while (packed_get(&reader, &counter, &value)) {
		sum->moved[counter / 64] |= 1ULL << counter % 64;
		sum->values[counter] = add_saturating(sum->values[counter], value);
	}
}

size_t packed_sum_take(struct packed_sum *sum, u8 *to)
{
	struct packed_writer writer = {.to = to};

	for (unsigned word = 0; word < sizeof(sum->moved) / sizeof(*sum->moved); word++) {
		for (u64 moved = sum->moved[word]; moved; moved &= moved - 1) {
			unsigned counter = word * 64 + (unsigned)__builtin_ctzll(moved);

			packed_put(&writer, counter, sum->values[counter]);
			sum->values[counter] = 0;
		}
		sum->moved[word] = 0;
	}
	return (size_t)(writer.to - to);
}

/* Sums one counter per source, from counter `first` on. Stops reading after them. */
static u64 sum_of_sources(const u8 *packed, size_t size, size_t first)
{
	struct packed_reader reader = {.from = packed, .end = packed + size};
	unsigned counter;
	u64 value, sum = 0;

	while (packed_get(&reader, &counter, &value) && counter < first + SOURCE_SLOTS)
		if (counter >= first)
			sum = add_saturating(sum, value);
	return sum;
}

u64 packed_samples(const u8 *packed, size_t size)
{
	return sum_of_sources(packed, size, offsetof(struct counters, samples) / sizeof(u64));
}

u64 packed_weight(const u8 *packed, size_t size)
{
	return sum_of_sources(packed, size, offsetof(struct counters, weight) / sizeof(u64));
}
