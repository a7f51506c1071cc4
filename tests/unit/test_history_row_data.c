// SPDX-License-Identifier: GPL-2.0
/* The figures of one cgroup in one span, as the database has them. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "collect/packed.h"
#include "history/keeper/row_data.h"

static size_t put_counters(u8 *to, u64 event, const struct counters *counters)
{
	u8 packed[PACKED_MAX];
	const struct row_part part = {event, packed, (u32)packed_of(counters, packed)};

	return (size_t)(row_data_put(to, &part) - to);
}

/* Adds up two rows, twice with the same memory: a sum that was taken is empty. Returns the size. */
static size_t sum_of(const u8 *a, size_t n_a, const u8 *b, size_t n_b, u8 *to)
{
	struct row_sum sum = {0};
	size_t size = 0;

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(row_sum_add(&sum, a, n_a), 0);
		cr_assert_eq(row_sum_add(&sum, b, n_b), 0);
		cr_assert_eq(sum.size, n_a + n_b);
		size = (size_t)(row_sum_take(&sum, to) - to);
		cr_assert_leq(size, n_a + n_b);
	}
	row_sum_done(&sum);
	return size;
}

Test(history_row_data, sums_are_those_of_the_counters)
{
	static struct counters a, b, sum;
	static u8 of_a[2 * PACKED_MAX], of_b[2 * PACKED_MAX], of_sum[4 * PACKED_MAX];
	size_t n_a = 0, n_b = 0, n;
	struct row_reader reader;
	struct row_part part;

	a.samples[1] = 5;
	a.latency[3] = ~0ULL;
	a.tlb[0] = 1;
	b.samples[1] = 200;
	b.latency[3] = 2;
	b.snoop[1] = 7;
	n_a += put_counters(of_a + n_a, 3, &a);
	n_a += put_counters(of_a + n_a, 300, &a);
	n_b += put_counters(of_b + n_b, 2, &b);
	n_b += put_counters(of_b + n_b, 300, &b);
	n = sum_of(of_a, n_a, of_b, n_b, of_sum);
	cr_assert_leq(n, n_a + n_b);
	cr_assert(row_data_sound(of_sum, n));
	reader = (struct row_reader){of_sum, of_sum + n};
	cr_assert(row_data_get(&reader, &part));
	cr_expect_eq(part.event, 2);
	cr_assert(row_data_get(&reader, &part));
	cr_expect_eq(part.event, 3);
	cr_assert(row_data_get(&reader, &part));
	cr_expect_eq(part.event, 300);
	packed_add(part.packed, part.size, &sum);
	cr_expect_eq(sum.samples[1], 205);
	cr_expect_eq(sum.latency[3], ~0ULL);
	cr_expect(sum.tlb[0] == 1 && sum.snoop[1] == 7);
	cr_expect_not(row_data_get(&reader, &part));
	cr_expect_eq(sum_of(of_a, n_a, NULL, 0, of_sum), n_a);
	cr_expect_arr_eq(of_sum, of_a, n_a);
}

Test(history_row_data, rows_with_all_counters_fit)
{
	static struct counters full;
	static u8 row[2 * PACKED_MAX], sum[4 * PACKED_MAX];
	size_t n;

	for (size_t i = 0; i < COUNTER_COUNT; i++)
		((u64 *)&full)[i] = ~0ULL >> (i % 3);
	n = put_counters(row, 1, &full);
	n = sum_of(row, n, row, n, sum);
	cr_expect(row_data_sound(sum, n));
}

Test(history_row_data, unsound_rows_are_recognized)
{
	static const struct {
		const char *data;
		size_t size;
		bool sound;
	} cases[] = {
		{"", 0, true},
		{"\x01\x02\x00\x05", 4, true},
		{"\x01\x02\x00\x05\x02\x02\x00\x05", 8, true},
		{"\x02\x02\x00\x05\x01\x02\x00\x05", 8, false}, /* out of order */
		{"\x01\x02\x00\x05\x01\x02\x00\x05", 8, false}, /* twice */
		{"\x01\x00", 2, false},
		{"\x01\x03\x00\x05", 4, false},
		{"\x01\x02\x00\x00", 4, false},
		{"\x00\x02\x00\x05", 4, false},
		{"\xff", 1, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cr_expect_eq(row_data_sound((const u8 *)cases[i].data, cases[i].size), cases[i].sound,
			     "case %zu", i);
}
