// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <string.h>

#include "collect/deltas.h"
#include "random_numbers.h"
#include "scarce_memory.h"

/* More entries than any test uses. */
#define ENTRIES 16384

static u64 state = XORSHIFT_SEED;

static u64 random_below(u64 n)
{
	return xorshift(&state) % n;
}

Test(packed, pairs_hold_only_nonzero_counters)
{
	struct counters counters = {.samples[SOURCE_L2] = 3, .weight[SOURCE_L1] = ~0ULL};
	struct counters sum = {.samples[SOURCE_L2] = 4};
	u8 packed[PACKED_MAX];
	size_t size;

	counters.instruction_latency[COARSE_OVERFLOW] = 1; /* the last counter in struct counters */
	size = packed_of(&counters, packed);
	packed_add(packed, size, &sum);
	cr_expect_eq(sum.samples[SOURCE_L2], 7);
	cr_expect_eq(sum.weight[SOURCE_L1], ~0ULL);
	cr_expect_eq(sum.instruction_latency[COARSE_OVERFLOW], 1);
	packed_add(packed, size, &sum);
	cr_expect_eq(sum.weight[SOURCE_L1], ~0ULL, "saturates");
	cr_expect_eq(packed_of(&(struct counters){0}, packed), 0);
}

Test(packed, packed_counters_fit_and_are_read_unchanged)
{
	u8 packed[PACKED_MAX];

	for (int round = 0; round < 200; round++) {
		struct counters counters, sum = {0};
		u64 *values = (u64 *)&counters;
		size_t size;

		for (size_t i = 0; i < COUNTER_COUNT; i++)
			values[i] = round == 0                 ? ~0ULL
				    : random_below((u64)round) ? 0
							       : random_below(~0ULL) >> random_below(64);
		size = packed_of(&counters, packed);
		cr_assert_leq(size, PACKED_MAX);
		packed_add(packed, size, &sum);
		cr_expect_eq(memcmp(&sum, &counters, sizeof(sum)), 0);
		cr_expect_eq(packed_samples(packed, size), counters_samples(&counters));
		cr_expect_eq(packed_weight(packed, size), counters_weight(&counters));
	}
}

/* `deltas` does not read the entries, so addresses are enough. */
static struct totals_entry *entry_at(size_t i)
{
	static char entries[ENTRIES];

	cr_assert_lt(i, (size_t)ENTRIES);
	return (void *)&entries[i];
}

static void put(struct deltas *deltas, size_t i, size_t size)
{
	u8 *room = deltas_room(deltas);

	cr_assert_not_null(room);
	memset(room, (int)(i & 0xff), PACKED_MAX);
	deltas_put(deltas, entry_at(i), (u32)i % EVENTS_MAX, size);
}

static void expect_all(const struct deltas *deltas, size_t n, size_t (*size_of)(size_t i))
{
	size_t n_list;
	const struct delta *list = deltas_list(deltas, &n_list);

	cr_assert_eq(n_list, n);
	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(list[i].entry, entry_at(i));
		cr_assert_eq(list[i].event, i % EVENTS_MAX);
		cr_assert_eq(list[i].size, size_of(i));
		for (size_t byte = 0; byte < list[i].size; byte++)
			cr_assert_eq(list[i].packed[byte], (u8)i, "delta %zu, byte %zu", i, byte);
	}
}

static size_t any_size(size_t i)
{
	return i % 97 == 0 ? PACKED_MAX : i * 7919 % 500 + 1;
}

Test(deltas, earlier_deltas_do_not_move_as_more_come)
{
	_cleanup_(deltas_freep) struct deltas *deltas = NULL;

	cr_assert_eq(deltas_new(&deltas), 0);
	for (int collection = 0; collection < 3; collection++) {
		deltas_begin(deltas);
		for (size_t i = 0; i < 3000; i++)
			put(deltas, i, any_size(i));
		expect_all(deltas, 3000, any_size);
	}
	deltas_begin(deltas);
	expect_all(deltas, 0, any_size);
}

/* Memory that a busy collection took is kept while such collections recur, and then freed. */
Test(deltas, memory_grows_and_shrinks_with_the_deltas)
{
	_cleanup_(deltas_freep) struct deltas *deltas = NULL;
	size_t idle, busy;

	cr_assert_eq(deltas_new(&deltas), 0);
	deltas_begin(deltas);
	put(deltas, 0, 100);
	idle = deltas_bytes(deltas);
	for (int collection = 0; collection < 2; collection++) {
		deltas_begin(deltas);
		for (size_t i = 0; i < 10000; i++)
			put(deltas, i, 300);
	}
	busy = deltas_bytes(deltas);
	cr_expect_gt(busy, 3000000);
	cr_expect_lt(busy, 4200000, "%zu", busy);
	deltas_begin(deltas);
	cr_expect_eq(deltas_bytes(deltas), busy);
	for (int collection = 0; collection < 2; collection++) {
		put(deltas, 0, 100);
		deltas_begin(deltas);
	}
	cr_expect_leq(deltas_bytes(deltas), 4 * idle);
}

static size_t hundred(size_t i)
{
	(void)i;
	return 100;
}

Test(deltas, a_failed_allocation_loses_no_delta)
{
	bool failed = true;

	for (size_t after = 0; failed; after++) {
		_cleanup_(deltas_freep) struct deltas *deltas = NULL;
		size_t n = 0, refused = 0;

		cr_assert_eq(deltas_new(&deltas), 0);
		deltas_begin(deltas);
		scarce_memory_after(after);
		while (n < 1000) {
			if (!deltas_room(deltas)) {
				refused++;
				continue;
			}
			put(deltas, n++, 100);
		}
		failed = scarce_memory_end();
		cr_expect_eq(refused, failed);
		expect_all(deltas, 1000, hundred);
		cr_expect_leq(after, 10);
	}
}
