// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <string.h>

#include "base/cleanup.h"
#include "collect/offcore_counts.h"
#include "collect/totals.h"

static struct offcore_counted counter(u64 count, u64 enabled_ns, u64 running_ns)
{
	return (struct offcore_counted){.count = count, .enabled_ns = enabled_ns, .running_ns = running_ns};
}

Test(offcore_counts, a_count_is_scaled_by_the_time_it_could_not_run)
{
	struct offcore_counted half = counter(1000, 400, 200), whole = counter(7, 400, 400);
	struct offcore_counted third = counter(10, 300, 90);
	u64 scaled;

	cr_expect(offcore_scaled(&half, &scaled));
	cr_expect_eq(scaled, 2000);
	cr_expect(offcore_scaled(&whole, &scaled));
	cr_expect_eq(scaled, 7);
	cr_expect(offcore_scaled(&third, &scaled));
	cr_expect_eq(scaled, 33, "to the nearest");
}

Test(offcore_counts, large_counts_that_need_no_scaling_stay_exact)
{
	struct offcore_counted large = counter((1ULL << 60) + 1, 5, 5);
	u64 scaled;

	cr_expect(offcore_scaled(&large, &scaled));
	cr_expect_eq(scaled, (1ULL << 60) + 1);
}

Test(offcore_counts, counters_that_never_ran_or_failed_are_unknown)
{
	struct offcore_counted never = counter(0, 500, 0), failed = counter(900, 500, 500), none = {0};
	struct offcore_counted zero = counter(0, 500, 500);
	u64 scaled;

	failed.errors = 1;
	cr_expect_not(offcore_scaled(&never, &scaled));
	cr_expect_not(offcore_scaled(&failed, &scaled));
	cr_expect_not(offcore_scaled(&none, &scaled));
	cr_expect(offcore_scaled(&zero, &scaled), "a 0 that was counted is one");
	cr_expect_eq(scaled, 0);
}

Test(offcore_counts, the_running_ratio_is_the_lowest_of_all_counters)
{
	struct offcore_counted counters[OFFCORE_KINDS] = {
		[OFFCORE_L3] = counter(1, 100, 100),
		[OFFCORE_LOCAL_DRAM] = counter(1, 100, 25),
	};
	struct offcore_counted none[OFFCORE_KINDS] = {{0}};
	double ratio;

	cr_expect(offcore_running_ratio(counters, &ratio));
	cr_expect_float_eq(ratio, 0.25, 1e-9);
	cr_expect_not(offcore_running_ratio(none, &ratio));
}

Test(offcore_counts, the_mean_latency_needs_both_of_its_counters)
{
	struct offcore_counted counters[OFFCORE_KINDS] = {
		[OFFCORE_OUTSTANDING] = counter(5000, 100, 50),
		[OFFCORE_REQUESTS] = counter(40, 100, 100),
	};
	double mean;

	cr_expect(offcore_latency_mean(counters, &mean));
	cr_expect_float_eq(mean, 250, 1e-9, "each scaled by itself");
	counters[OFFCORE_REQUESTS].count = 0;
	cr_expect_not(offcore_latency_mean(counters, &mean), "no request");
	counters[OFFCORE_REQUESTS] = counter(40, 100, 0);
	cr_expect_not(offcore_latency_mean(counters, &mean));
	counters[OFFCORE_REQUESTS] = counter(40, 100, 100);
	counters[OFFCORE_OUTSTANDING].errors = 1;
	cr_expect_not(offcore_latency_mean(counters, &mean));
}

Test(offcore_counts, a_packed_row_is_read_unchanged)
{
	struct offcore_counts before, after;
	struct counters row;

	for (size_t i = 0; i < sizeof(before) / sizeof(u64); i++)
		((u64 *)&before)[i] = i * 1000 + 1;
	memset(&after, 0, sizeof(after));
	offcore_pack(&before, &row);
	offcore_unpack(&row, &after);
	cr_expect_eq(memcmp(&before, &after, sizeof(before)), 0);
}

static struct offcore_counts one(enum offcore_kind kind, struct offcore_counted of_kind)
{
	struct offcore_counts counters = {0};

	counters.of[1][kind] = of_kind;
	return counters;
}

Test(offcore_counts, each_collection_is_scaled_by_its_own_ratio)
{
	struct offcore_scaled_counts counters = {0};
	struct offcore_counts delta;
	u64 value = 0, before = 0;

	/*
	 * Each collection is scaled by its own running time, so that counters never fall: here 3 x 100 plus
	 * 1.5 x 200. Over the whole time, the counter ran for half and counted 300, which also gives 600.
	 */
	delta = one(OFFCORE_L3, counter(100, 300, 100));
	offcore_scaled_add(&counters, &delta);
	cr_expect(offcore_scaled_get(&counters, 1, OFFCORE_L3, &value));
	cr_expect_eq(value, 300);
	before = value;
	delta = one(OFFCORE_L3, counter(200, 300, 200));
	offcore_scaled_add(&counters, &delta);
	cr_expect(offcore_scaled_get(&counters, 1, OFFCORE_L3, &value));
	cr_expect_eq(value, 600);
	cr_expect_geq(value, before);
	cr_expect_not(offcore_scaled_get(&counters, 0, OFFCORE_L3, &value), "the other PMU has none");
}

Test(offcore_counts, counts_of_a_time_without_running_are_scaled_later)
{
	struct offcore_scaled_counts counters = {0};
	struct offcore_counts delta = one(OFFCORE_L3, counter(0, 100, 0));
	u64 value;

	offcore_scaled_add(&counters, &delta);
	cr_expect_not(offcore_scaled_get(&counters, 1, OFFCORE_L3, &value), "not 0: it did not run");
	delta = one(OFFCORE_L3, counter(50, 100, 100));
	offcore_scaled_add(&counters, &delta);
	cr_expect(offcore_scaled_get(&counters, 1, OFFCORE_L3, &value));
	cr_expect_eq(value, 100);
}

Test(offcore_counts, a_failed_reading_ends_a_counter)
{
	struct offcore_scaled_counts counters = {0};
	struct offcore_counts delta = one(OFFCORE_L3, counter(50, 100, 100));
	u64 value;

	offcore_scaled_add(&counters, &delta);
	delta.of[1][OFFCORE_L3].errors = 1;
	delta.of[1][OFFCORE_LOCAL_DRAM] = counter(8, 100, 100);
	offcore_scaled_add(&counters, &delta);
	cr_expect_not(offcore_scaled_get(&counters, 1, OFFCORE_L3, &value));
	cr_expect(offcore_scaled_get(&counters, 1, OFFCORE_LOCAL_DRAM, &value), "the other kind goes on");
	cr_expect_eq(value, 8);
}

Test(offcore_counts, folding_an_entry_moves_its_counts_to_other)
{
	struct offcore_counts delta = one(OFFCORE_REMOTE_DRAM, counter(70, 10, 10));
	struct totals_entry *entry;
	_cleanup_(totals_freep) struct totals *totals = NULL;

	cr_assert_eq(totals_new(&totals), 0);
	for (int i = 0; i < 2; i++) {
		totals_begin(totals);
		cr_assert_eq(totals_get(totals, "/dead", &entry), 0);
		cr_assert_eq(totals_reserve_offcore(entry), 0);
		totals_add_offcore(entry, &delta);
		cr_expect_eq(entry->offcore_delta->of[1][OFFCORE_REMOTE_DRAM].count, 70);
		cr_expect_eq(entry->offcore_total->of[1][OFFCORE_REMOTE_DRAM].count, 70);
		entry->died_ns = 1;
		cr_assert_eq(totals_fold(totals, 2, 0), 0);
		cr_expect_null(totals_find(totals, "/dead"));
		cr_expect_eq(totals_other(totals)->offcore_total->of[1][OFFCORE_REMOTE_DRAM].count,
			     70 * (u64)(i + 1));
	}
}

/* If a slot is reclaimed between two collections, its counts are added at that time. */
Test(offcore_counts, counts_between_two_collections_belong_to_the_next)
{
	struct offcore_counts delta = one(OFFCORE_L3, counter(5, 10, 10));
	struct totals_entry *entry;
	_cleanup_(totals_freep) struct totals *totals = NULL;

	cr_assert_eq(totals_new(&totals), 0);
	cr_assert_eq(totals_get(totals, "/early", &entry), 0);
	totals_begin(totals);
	cr_assert_eq(totals_reserve_offcore(entry), 0);
	totals_add_offcore(entry, &delta);
	totals_offcore_taken(totals);
	cr_expect_null(entry->offcore_delta);
	cr_assert_eq(totals_reserve_offcore(entry), 0);
	totals_add_offcore(entry, &delta);
	totals_begin(totals);
	cr_assert_eq(totals_reserve_offcore(entry), 0);
	totals_add_offcore(entry, &delta);
	cr_expect_eq(entry->offcore_delta->of[1][OFFCORE_L3].count, 10);
	cr_expect_eq(entry->offcore_total->of[1][OFFCORE_L3].count, 15);
	totals_offcore_taken(totals);
	cr_expect_null(entry->offcore_delta);
}
