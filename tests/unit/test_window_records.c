// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <string.h>

#include "collect/pairs.h"
#include "window/window_records.h"

static u8 *put(u8 *to, u32 entry, u32 event, const struct figures *figures)
{
	u8 pairs[PAIRS_MAX];
	size_t size = pairs_of(figures, pairs);

	to = record_put_header(to, entry, event, size);
	memcpy(to, pairs, size);
	return to + size;
}

static void expect(const struct record *record, u32 entry, u32 event, const struct figures *figures)
{
	struct figures sum = {0};

	pairs_add(record->pairs, record->size, &sum);
	cr_expect_eq(record->entry, entry);
	cr_expect_eq(record->event, event);
	cr_expect_eq(memcmp(&sum, figures, sizeof(sum)), 0, "%u.%u", entry, event);
}

Test(window_records, records_of_one_entry_and_event_are_added)
{
	const struct figures few = {.samples[0] = 3, .locked = 1}, others = {.samples[1] = 4, .locked = 200};
	const struct figures both = {.samples[0] = 3, .samples[1] = 4, .locked = 201};
	struct figures large, twice;
	u8 data[8 * PAIRS_MAX], sums[8 * PAIRS_MAX];
	struct record records[8];
	size_t size, n;
	u8 *end = data;

	for (size_t i = 0; i < FIGURES_COUNTERS; i++) {
		((u64 *)&large)[i] = ~0ULL >> i % 64;
		((u64 *)&twice)[i] = i % 64 ? 2 * (~0ULL >> i % 64) : ~0ULL;
	}
	end = put(end, 70000, 1, &few);
	end = put(end, 5, 2, &large);
	end = put(end, 5, 0, &few);
	end = put(end, 70000, 1, &others);
	end = put(end, ~0U, 11, &others);
	end = put(end, 5, 2, &large);
	n = (size_t)(records_find(data, (size_t)(end - data), records) - records);
	cr_assert_eq(n, 6);
	expect(&records[3], 70000, 1, &others);
	records_sort(records, n);
	n = records_add_up(records, n, sums, &size);
	cr_assert_eq(n, 4);
	cr_assert_leq(size, (size_t)(end - data));
	cr_assert_eq(records_find(sums, size, records) - records, 4);
	expect(&records[0], 5, 0, &few);
	expect(&records[1], 5, 2, &twice);
	expect(&records[2], 70000, 1, &both);
	expect(&records[3], ~0U, 11, &others);
}

Test(window_records, no_records_have_no_sum)
{
	size_t size = 1;
	u8 byte;

	cr_expect_eq(records_add_up(NULL, 0, &byte, &size), 0);
	cr_expect_eq(size, 0);
}
