// SPDX-License-Identifier: GPL-2.0
#include "collect/pairs.h"

#include "state/state_bytes.h"

size_t pairs_of(const struct figures *figures, u8 *to)
{
	const u64 *counters = (const u64 *)figures;
	struct pairs_writer writer = {.to = to};

	for (unsigned i = 0; i < FIGURES_COUNTERS; i++)
		if (counters[i])
			pairs_put(&writer, i, counters[i]);
	return (size_t)(writer.to - to);
}

bool pairs_sound(const u8 *pairs, size_t size)
{
	struct state_reader reader = {.from = pairs, .end = pairs + size};
	u64 next = 0;

	while (!reader.bad && reader.from != reader.end) {
		u64 passed = state_get_number(&reader);

		if (passed >= FIGURES_COUNTERS || state_get_number(&reader) == 0)
			return false;
		next += passed + 1;
		if (next > FIGURES_COUNTERS)
			return false;
	}
	return !reader.bad;
}

void pairs_add(const u8 *pairs, size_t size, struct figures *sum)
{
	/* If there are no pairs, `pairs` may be NULL. */
	struct pairs_reader reader = {.from = pairs, .end = size > 0 ? pairs + size : pairs};
	u64 *counters = (u64 *)sum;
	unsigned counter;
	u64 value;

	while (pairs_get(&reader, &counter, &value))
		counters[counter] = add_saturating(counters[counter], value);
}

void pairs_sum_add(struct pairs_sum *sum, const u8 *pairs, size_t size)
{
	struct pairs_reader reader = {.from = pairs, .end = pairs + size};
	unsigned counter;
	u64 value;

	while (pairs_get(&reader, &counter, &value)) {
		sum->moved[counter / 64] |= 1ULL << counter % 64;
		sum->counters[counter] = add_saturating(sum->counters[counter], value);
	}
}

size_t pairs_sum_take(struct pairs_sum *sum, u8 *to)
{
	struct pairs_writer writer = {.to = to};

	for (unsigned word = 0; word < sizeof(sum->moved) / sizeof(*sum->moved); word++) {
		for (u64 moved = sum->moved[word]; moved; moved &= moved - 1) {
			unsigned counter = word * 64 + (unsigned)__builtin_ctzll(moved);

			pairs_put(&writer, counter, sum->counters[counter]);
			sum->counters[counter] = 0;
		}
		sum->moved[word] = 0;
	}
	return (size_t)(writer.to - to);
}

/* Sums one counter per source, from counter `first` on. Stops reading after them. */
static u64 sum_of_sources(const u8 *pairs, size_t size, size_t first)
{
	struct pairs_reader reader = {.from = pairs, .end = pairs + size};
	unsigned counter;
	u64 value, sum = 0;

	while (pairs_get(&reader, &counter, &value) && counter < first + SOURCE_SLOTS)
		if (counter >= first)
			sum = add_saturating(sum, value);
	return sum;
}

u64 pairs_samples(const u8 *pairs, size_t size)
{
	return sum_of_sources(pairs, size, offsetof(struct figures, samples) / sizeof(u64));
}

u64 pairs_weight(const u8 *pairs, size_t size)
{
	return sum_of_sources(pairs, size, offsetof(struct figures, weight) / sizeof(u64));
}
