// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

#include "collect/packed.h"
#include "collect/totals.h"
#include "window/trend.h"

#define START_NS (100 * NSEC_PER_SEC)

static struct trend *trend;

static void end(void)
{
	trend_free(trend);
}

static struct trend *new_trend(size_t max_bytes)
{
	struct trend *made;

	cr_assert_eq(trend_new(max_bytes, TREND_SPAN_NS, START_NS, &made), 0);
	return made;
}

static int put(u32 entry, unsigned event, u64 samples, u64 latency)
{
	struct counters counters = {.samples[SOURCE_L3] = samples, .weight[SOURCE_L3] = 9};
	u8 room[PACKED_MAX];

	if (latency) {
		counters.latency_sum[SOURCE_L3] = samples * latency;
		counters.latency[histogram_fine_index((u32)latency)] = samples;
	}
	return trend_put(trend, entry, event, room, packed_of(&counters, room));
}

static void second(u64 number)
{
	cr_assert_eq(trend_begin(trend, START_NS + number * NSEC_PER_SEC), 0);
}

/* Returns `n` bins of the last `seconds` seconds. */
static struct trend_bins bins_of(u32 entry, unsigned event, size_t n, u64 seconds)
{
	struct trend_bins bins = {.bin_ns = seconds * NSEC_PER_SEC / n, .n = n};

	bins.bins = calloc(n, sizeof(*bins.bins));
	cr_assert_not_null(bins.bins);
	trend_cover(trend, &bins);
	trend_add(trend, &entry, 1, event, &bins);
	return bins;
}

TestSuite(trend, .fini = end);

/* 8 seconds at 10 samples a second, of which 6 were collected, then 4 at 20 a second after a gap of 4. */
Test(trend, a_collection_is_divided_among_its_bins)
{
	const double covered_s[] = {1.5, 3, 1.5, 0, 4};
	const double samples[] = {20, 40, 20, 0, 80};
	struct trend_bins bins = {.bin_ns = 4 * NSEC_PER_SEC, .end_ns = 18 * NSEC_PER_SEC, .n = 5};

	trend = new_trend(TREND_BYTES);
	cr_assert_eq(trend_stretch(trend, 0, 1, 1), -EINVAL);
	second(8);
	cr_assert_eq(trend_stretch(trend, 0, 8 * (s64)NSEC_PER_SEC, 6 * NSEC_PER_SEC), 0);
	cr_assert_eq(trend_stretch(trend, 9, 9, 1), -EINVAL);
	cr_assert_eq(put(7, 1, 80, 40), 0);
	second(18);
	cr_assert_eq(trend_stretch(trend, 14 * (s64)NSEC_PER_SEC, 18 * (s64)NSEC_PER_SEC, 4 * NSEC_PER_SEC),
		     0);
	cr_assert_eq(put(7, 1, 80, 50), 0);
	bins.bins = calloc(bins.n, sizeof(*bins.bins));
	cr_assert_not_null(bins.bins);
	trend_cover(trend, &bins);
	trend_add(trend, &(u32){7}, 1, 1, &bins);
	for (size_t i = 0; i < bins.n; i++) {
		const struct trend_bin *bin = &bins.bins[i];

		cr_expect_eq(bin->covered, covered_s[i] > 0, "bin %zu", i);
		cr_expect_float_eq(bin->covered_ns / NSEC_PER_SEC, covered_s[i], 1e-9, "bin %zu", i);
		cr_expect_float_eq(bin->samples, samples[i], 1e-9, "bin %zu", i);
		cr_expect_float_eq(bin->latency, samples[i] * (i == 4 ? 50 : 40), 1e-6, "bin %zu", i);
	}
	free(bins.bins);
}

/* Returns the number of samples that a bin has of a collection with `count` samples. */
static double stored(u64 count)
{
	struct trend_bins bins;
	double samples;

	trend_free(trend);
	trend = new_trend(TREND_BYTES);
	second(1);
	cr_assert_eq(put(7, 1, count, 0), 0);
	bins = bins_of(7, 1, 1, 1);
	samples = bins.bins[0].samples;
	free(bins.bins);
	return samples;
}

Test(trend, counts_are_stored_in_16_bits)
{
	cr_expect_eq(stored(0), 0);
	cr_expect_eq(stored(4095), 4095);
	cr_expect_eq(stored(4097), 4098, "rounded");
	cr_expect_eq(stored(8191), 8192, "rounded up to the next power");
	cr_expect_eq(stored(~0ULL), (double)(4095ULL << 30), "and no more");
	for (u64 count = 1; count < 1ULL << 42; count = count * 3 / 2 + 1) {
		double off = stored(count) / (double)count - 1;

		cr_expect_leq(fabs(off), 1.0 / 4096, "%llu is off by %g", (unsigned long long)count, off);
	}
}

Test(trend, a_bin_adds_up_its_collections)
{
	struct trend_bins bins;

	trend = new_trend(TREND_BYTES);
	for (u64 i = 1; i <= 20; i++) {
		second(i);
		cr_assert_eq(put(7, 1, 10, i <= 10 ? 100 : 200), 0);
		if (i == 20)
			cr_assert_eq(put(7, 0, 1000, 0), 0);
	}
	bins = bins_of(7, 1, 4, 40);
	cr_expect_not(bins.bins[0].covered, "it was not there yet");
	cr_expect_not(bins.bins[1].covered);
	cr_expect(bins.bins[2].covered && bins.bins[3].covered);
	cr_expect_eq(bins.bins[2].samples, 100);
	cr_expect_float_eq(bins.bins[2].latency / bins.bins[2].latency_samples, 100, 0.05);
	cr_expect_float_eq(bins.bins[3].latency / bins.bins[3].latency_samples, 200, 0.05);
	free(bins.bins);

	bins = bins_of(7, 0, 1, 10);
	cr_expect_eq(bins.bins[0].samples, 1000);
	cr_expect_eq(bins.bins[0].latency_samples, 0, "without latency there is no mean");
	free(bins.bins);

	bins = bins_of(8, 1, 2, 20);
	cr_expect(bins.bins[0].covered && bins.bins[0].samples == 0, "another was quiet");
	free(bins.bins);
}

Test(trend, added_entries_equal_the_sum_of_each)
{
	const u32 entries[] = {9, 3, 77, 5}; /* 77 has no samples */
	struct trend_bins together = {.bin_ns = 7 * NSEC_PER_SEC, .n = 20}, each = together;

	trend = new_trend(TREND_BYTES);
	for (u64 i = 1; i <= 2ULL * TREND_PAGE; i++) {
		second(i);
		for (u32 entry = 3; entry <= 9; entry += 2)
			if (i % entry)
				cr_assert_eq(put(entry, 1, i, i % 2 ? 0 : 100), 0);
	}
	together.bins = calloc(together.n, sizeof(*together.bins));
	each.bins = calloc(each.n, sizeof(*each.bins));
	cr_assert(together.bins && each.bins);
	trend_add(trend, entries, ARRAY_SIZE(entries), 1, &together);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		trend_add(trend, &entries[i], 1, 1, &each);
	for (size_t i = 0; i < each.n; i++) {
		cr_expect_eq(together.bins[i].samples, each.bins[i].samples);
		cr_expect_eq(together.bins[i].latency_samples, each.bins[i].latency_samples);
		cr_expect_float_eq(together.bins[i].latency, each.bins[i].latency, 1e-6);
	}
	cr_expect_gt(together.bins[each.n - 1].samples, 0);
	free(together.bins);
	free(each.bins);
}

Test(trend, two_slots_of_a_path_are_added)
{
	struct trend_bins bins;

	trend = new_trend(TREND_BYTES);
	second(1);
	cr_assert_eq(put(1, 0, 10, 100), 0);
	cr_assert_eq(put(1, 0, 30, 200), 0);
	cr_assert_eq(put(1, 0, 5, 0), 0);
	bins = bins_of(1, 0, 1, 1);
	cr_expect_eq(bins.bins[0].samples, 45);
	cr_expect_float_eq(bins.bins[0].latency / bins.bins[0].latency_samples, 175, 0.1);
	free(bins.bins);
}

/* Data is forgotten when it is an hour old. At most one page more than that is held. */
Test(trend, an_hour_is_kept)
{
	struct trend_bins bins;
	size_t after_an_hour = 0;

	trend = new_trend(TREND_BYTES);
	for (u64 i = 1; i <= 4 * 3600UL; i++) {
		second(i);
		cr_assert_eq(put(3, 2, 100, 50), 0);
		if (i == 3600 + 2 * TREND_PAGE)
			after_an_hour = trend_bytes(trend);
		cr_expect(!after_an_hour || trend_bytes(trend) <= after_an_hour + 20000);
	}
	bins = bins_of(3, 2, 3600, 3600);
	for (size_t i = 0; i < 3600; i++)
		cr_assert(bins.bins[i].covered && bins.bins[i].samples == 100, "bin %zu", i);
	free(bins.bins);
	/* One column for each page, and the memory of the page itself. */
	cr_expect_leq(trend_bytes(trend), 62 * (TREND_COLUMN_BYTES + 1200) + 20000);
}

/*
 * With many busy cgroups, the trend covers less time, the same for all of them. It never exceeds its memory.
 */
Test(trend, memory_is_bounded)
{
	const size_t most = 1 << 20;
	struct trend_bins first, last;

	trend = new_trend(most);
	for (u64 i = 1; i <= 600; i++) {
		second(i);
		for (u32 entry = 0; entry < 1000; entry++)
			cr_assert_eq(put(entry, 0, 1 + entry, 30), 0);
		cr_assert_leq(trend_bytes(trend), most);
	}
	first = bins_of(0, 0, 600, 600);
	last = bins_of(999, 0, 600, 600);
	cr_expect_not(first.bins[0].covered, "what there is no room for is not known, not quiet");
	for (size_t i = 0; i < 600; i++) {
		cr_expect_eq(first.bins[i].covered, last.bins[i].covered);
		cr_expect_eq(first.bins[i].samples, first.bins[i].covered);
		cr_expect_eq(last.bins[i].samples, last.bins[i].covered ? 1000 : 0);
	}
	cr_expect(first.bins[599 - TREND_PAGE].covered, "at least the page before this one");
	free(first.bins);
	free(last.bins);
}

Test(trend, trends_beyond_a_page_are_refused)
{
	int r = 0;

	trend = new_trend(100000);
	second(1);
	for (u32 entry = 0; entry < 1000 && r == 0; entry++)
		r = put(entry, 0, 1, 30);
	cr_expect_eq(r, -ENOSPC);
	cr_expect_leq(trend_bytes(trend), 100000);
	cr_expect_eq(put(0, 0, 1, 30), 0, "who is there goes on");
}

/* The new ones of the second collection find no room. They come first, and the others still get their point. */
Test(trend, a_collection_omits_only_entries_that_do_not_fit)
{
	enum { OLD = 10, NEW = 1000 };
	static struct totals_entry entries[NEW + OLD];
	static struct delta list[NEW + OLD];
	const struct counters counters = {.samples[SOURCE_L3] = 3, .weight[SOURCE_L3] = 9};
	u8 packed[PACKED_MAX];
	const u32 size = (u32)packed_of(&counters, packed);

	trend = new_trend(100000);
	for (u32 i = 0; i < NEW + OLD; i++) {
		entries[i].number = i;
		list[i] = (struct delta){.entry = &entries[i], .size = size, .packed = packed};
	}
	cr_expect_eq(trend_collect(trend, START_NS + NSEC_PER_SEC, list + NEW, OLD), 0);
	cr_expect_eq(trend_collect(trend, START_NS + 2 * NSEC_PER_SEC, list, NEW + OLD), -ENOSPC);
	for (u32 i = 0; i < OLD; i++) {
		struct trend_bins bins = bins_of(NEW + i, 0, 2, 2);

		cr_expect_eq(bins.bins[0].samples, 3);
		cr_expect_eq(bins.bins[1].samples, 3, "entry %u lost its point", NEW + i);
		free(bins.bins);
	}
}
