// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "collect/figures.h"

Test(figures, differences_of_wrapped_counters_are_small)
{
	static struct latency_record before, now;
	struct figures figures;

	before.counts.samples[SOURCE_L3] = 0xfffffffeU;
	now.counts.samples[SOURCE_L3] = 3;
	before.latency[10] = 0xffffffffU;
	now.latency[10] = 4;
	before.latency_sum[SOURCE_L3] = ~0ULL - 9;
	now.latency_sum[SOURCE_L3] = 90;
	before.source_latency[SOURCE_L3][5] = 0xfffffff0U;
	now.source_latency[SOURCE_L3][5] = 0xfffffff5U;

	cr_expect(figures_difference(&now, &before, &figures));
	cr_expect_eq(figures.samples[SOURCE_L3], 5);
	cr_expect_eq(figures.latency[10], 5);
	cr_expect_eq(figures.latency_sum[SOURCE_L3], 100);
	cr_expect_eq(figures.source_latency[SOURCE_L3][5], 5);
	cr_expect_eq(figures_samples(&figures), 5);
	cr_expect_eq(figures_latency_samples(&figures), 5);
}

/* Every counter of the record reaches the figures: each gets a difference of its own, and none is missed. */
Test(figures, every_counter_is_taken)
{
	static struct latency_record zero, now;
	static struct figures figures;
	u64 expected = 0, got = 0;
	u64 next = 1;

	for (size_t i = 0; i < SOURCE_SLOTS; i++) {
		expected += now.counts.weight[i] = next++;
		expected += now.counts.samples[i] = (u32)next++;
		expected += now.latency_sum[i] = next++;
		expected += now.weighted_latency[i] = next++;
		for (size_t j = 0; j < OCTAVE_BUCKETS; j++)
			expected += now.source_latency[i][j] = (u32)next++;
	}
	for (size_t i = 0; i < SNOOP_SLOTS; i++)
		expected += now.counts.snoop[i] = (u32)next++;
	for (size_t i = 0; i < TLB_SLOTS; i++)
		expected += now.counts.tlb[i] = (u32)next++;
	for (size_t i = 0; i < FINE_BUCKETS; i++)
		expected += now.latency[i] = (u32)next++;
	for (size_t i = 0; i < COARSE_BUCKETS; i++)
		expected += now.instruction_latency[i] = (u32)next++;
	expected += now.counts.locked = (u32)next++;
	expected += now.counts.blocked = (u32)next++;
	expected += now.instruction_latency_sum = next++;

	cr_assert_eq(next - 1, FIGURES_COUNTERS);
	cr_expect(figures_difference(&now, &zero, &figures));
	for (size_t i = 0; i < FIGURES_COUNTERS; i++)
		got += ((const u64 *)&figures)[i];
	cr_expect_eq(got, expected);
	cr_expect_eq(figures.latency[144], now.latency[144]);
	cr_expect_eq(figures.locked, now.counts.locked);
	cr_expect_eq(figures.instruction_latency[10], now.instruction_latency[10]);
}

Test(figures, nothing_moved)
{
	static struct latency_record record = {.counts.samples[3] = 7, .latency[20] = 7};
	static struct figures figures;
	static const struct figures none;

	memset(&figures, 0xff, sizeof(figures));
	cr_expect_not(figures_difference(&record, &record, &figures));
	cr_expect_eq(memcmp(&figures, &none, sizeof(none)), 0);
}

Test(figures, plain_difference_has_no_latency)
{
	static const struct sample_counts before = {.samples[SOURCE_L1] = 0xffffffffU,
						    .weight[SOURCE_L1] = 7};
	static const struct sample_counts now = {
		.samples[SOURCE_L1] = 1, .weight[SOURCE_L1] = 27, .snoop[SNOOP_HITM] = 1, .blocked = 2};
	static struct figures figures;

	memset(&figures, 0xff, sizeof(figures));
	cr_expect(figures_plain_difference(&now, &before, &figures));
	cr_expect_eq(figures_samples(&figures), 2);
	cr_expect_eq(figures_weight(&figures), 20);
	cr_expect_eq(figures.snoop[SNOOP_HITM], 1);
	cr_expect_eq(figures.blocked, 2);
	cr_expect_eq(figures_latency_samples(&figures), 0);
	cr_expect_eq(figures_latency_sum(&figures), 0);
}

Test(figures, addition_saturates_and_never_wraps)
{
	static struct figures sum = {.weighted_latency[SOURCE_L1] = ~0ULL - 1, .samples[SOURCE_L2] = 40};
	static const struct figures addend = {.weighted_latency[SOURCE_L1] = 5, .samples[SOURCE_L2] = 2};

	figures_add(&sum, &addend);
	cr_expect_eq(sum.weighted_latency[SOURCE_L1], ~0ULL);
	cr_expect_eq(sum.samples[SOURCE_L2], 42);

	sum.weighted_latency[SOURCE_L3] = 1;
	cr_expect_eq(figures_weighted_latency(&sum), ~0ULL, "so do the sums over the sources");
}

Test(figures, page_walks_are_walks_misses_and_faults)
{
	static const struct figures figures = {.tlb = {[TLB_NA] = 1,
						       [TLB_L1_HIT] = 2,
						       [TLB_WALK] = 10,
						       [TLB_FAULT] = 100,
						       [TLB_MISS] = 1000}};

	cr_expect_eq(figures_tlb_walk(&figures), 1110);
}

Test(figures, instruction_latency_counts_its_own_samples)
{
	static const struct figures figures = {.instruction_latency = {[0] = 3, [COARSE_OVERFLOW] = 4},
					       .latency = {[9] = 1}};

	cr_expect_eq(figures_instruction_latency_samples(&figures), 7);
	cr_expect_eq(figures_latency_samples(&figures), 1);
}
