// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "collect/counters.h"

/* Each counter of the record has a value of its own, and all of them must reach struct counters. */
Test(counters, every_counter_is_taken)
{
	static struct latency_record record;
	static struct counters counters;
	u64 expected = 0, got = 0, samples = 0;
	u64 next = 1;

	for (size_t i = 0; i < SOURCE_SLOTS; i++) {
		expected += record.sums[i].weight = next++;
		expected += record.sums[i].latency = next++;
		expected += record.sums[i].weighted_latency = next++;
		samples += record.without_latency[i] = (u32)next++;
		for (size_t j = 0; j < OCTAVE_BUCKETS; j++) {
			samples += record.source_latency[i][j] = (u32)next;
			expected += next++;
		}
	}
	for (size_t i = 0; i < SNOOP_SLOTS; i++)
		expected += record.snoop[i] = (u32)next++;
	for (size_t i = 0; i < TLB_SLOTS; i++)
		expected += record.tlb[i] = (u32)next++;
	for (size_t i = 0; i < FINE_BUCKETS; i++)
		expected += record.latency[i] = (u32)next++;
	for (size_t i = 0; i < COARSE_BUCKETS; i++)
		expected += record.instruction_latency[i] = (u32)next++;
	for (size_t i = 0; i < FLAG_COUNT; i++)
		expected += record.flags[i] = (u32)next++;
	expected += record.instruction_latency_sum = next++;

	cr_assert_eq(next - 1, COUNTER_COUNT, "samples by source stand for those without latency");
	memset(&counters, 0xff, sizeof(counters));
	counters_of_latency(&record, &counters);
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		got += ((const u64 *)&counters)[i];
	cr_expect_eq(got, expected + samples);
	cr_expect_eq(counters_samples(&counters), samples);
	cr_expect_eq(counters.latency[144], record.latency[144]);
#define SAME_FLAG(name, ...) cr_expect_eq(counters.name, record.name, #name);
	ACCESS_FLAGS(SAME_FLAG)
	cr_expect_eq(counters.instruction_latency[10], record.instruction_latency[10]);
}

Test(counters, samples_of_a_source_are_those_with_and_without_latency)
{
	static const struct latency_record record = {
		.source_latency[SOURCE_L3] = {[3] = ~0U, [7] = 2},
		.without_latency = {[SOURCE_L3] = 5, [SOURCE_L1] = 1},
	};
	static struct counters counters;

	counters_of_latency(&record, &counters);
	cr_expect_eq(counters.samples[SOURCE_L3], 0xffffffffULL + 7);
	cr_expect_eq(counters.samples[SOURCE_L1], 1);
	cr_expect_eq(counters_samples(&counters), 0x100000000ULL + 7);
}

Test(counters, an_event_without_latency_has_no_latency_counted)
{
	static struct plain_record record = {
		.samples[SOURCE_L1] = 2, .weight[SOURCE_L1] = 20, .snoop[SNOOP_HITM] = 1, .tlb[TLB_WALK] = 3};
	static struct counters counters;

	for (u32 i = 0; i < FLAG_COUNT; i++)
		record.flags[i] = 4 + i;
	memset(&counters, 0xff, sizeof(counters));
	counters_of_plain(&record, &counters);
	cr_expect_eq(counters_samples(&counters), 2);
	cr_expect_eq(counters_weight(&counters), 20);
	cr_expect_eq(counters.snoop[SNOOP_HITM], 1);
	cr_expect_eq(counters.tlb[TLB_WALK], 3);
	ACCESS_FLAGS(SAME_FLAG)
	cr_expect_eq(counters_latency_samples(&counters), 0);
	cr_expect_eq(counters_latency_sum(&counters), 0);
}

Test(counters, addition_saturates_and_never_wraps)
{
	static struct counters sum = {.weighted_latency[SOURCE_L1] = ~0ULL - 1, .samples[SOURCE_L2] = 40};
	static const struct counters addend = {.weighted_latency[SOURCE_L1] = 5, .samples[SOURCE_L2] = 2};

	counters_add(&sum, &addend);
	cr_expect_eq(sum.weighted_latency[SOURCE_L1], ~0ULL);
	cr_expect_eq(sum.samples[SOURCE_L2], 42);

	sum.weighted_latency[SOURCE_L3] = 1;
	cr_expect_eq(counters_weighted_latency(&sum), ~0ULL, "so do the sums over the sources");
}

Test(counters, page_walks_are_walks_misses_and_faults)
{
	static const struct counters counters = {.tlb = {[TLB_NA] = 1,
							 [TLB_L1_HIT] = 2,
							 [TLB_WALK] = 10,
							 [TLB_FAULT] = 100,
							 [TLB_MISS] = 1000}};

	cr_expect_eq(counters_tlb_walk(&counters), 1110);
}

Test(counters, instruction_latency_counts_its_own_samples)
{
	static const struct counters counters = {.instruction_latency = {[0] = 3, [COARSE_OVERFLOW] = 4},
						 .latency = {[9] = 1}};

	cr_expect_eq(counters_instruction_latency_samples(&counters), 7);
	cr_expect_eq(counters_latency_samples(&counters), 1);
}
