// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "collect/packed.h"
#include "window/tally.h"

static struct tally of(const struct counters *counters)
{
	u8 packed[PACKED_MAX];
	struct tally tally;

	tally_of(packed, packed_of(counters, packed), &tally);
	return tally;
}

Test(tally, a_delta_becomes_a_tally)
{
	struct counters counters = {.samples = {[SOURCE_L1] = 3, [SOURCE_REMOTE_DRAM] = 2},
				    .weight = {[SOURCE_L1] = 300, [SOURCE_REMOTE_DRAM] = 200},
				    .latency_sum = {[SOURCE_L1] = 30, [SOURCE_REMOTE_DRAM] = 900},
				    .snoop = {[SNOOP_HIT] = 4, [SNOOP_HITM] = 1},
				    .tlb = {[TLB_WALK] = 1, [TLB_MISS] = 2, [TLB_FAULT] = 4, [TLB_HIT] = 8},
				    .locked = 5,
				    .blocked = 6,
				    .latency = {[9] = 3, [FINE_OVERFLOW] = 1}};
	struct tally tally = of(&counters);

	cr_expect_eq(tally.samples, 5);
	cr_expect_eq(tally.weight, 500);
	cr_expect_eq(tally.weight_squared, 5.0 * 100 * 100, "five samples of one period");
	cr_expect_eq(tally.latency_sum, 930);
	cr_expect_eq(tally.latency_samples, 4);
	cr_expect_eq(tally.sources[SOURCE_L1], 3);
	cr_expect_eq(tally.sources[SOURCE_REMOTE_DRAM], 2);
	cr_expect_eq(tally.hitm, 1);
	cr_expect_eq(tally.tlb_walk, 7);
	cr_expect_eq(tally.locked, 5);
	cr_expect_eq(tally.latency[9], 3);
	cr_expect_eq(tally.latency[FINE_OVERFLOW], 1);
}

Test(tally, an_empty_tally_is_zero)
{
	struct counters counters = {0};
	struct tally zero = {0};
	struct tally tally = of(&counters);

	cr_expect_eq(memcmp(&tally, &zero, sizeof(tally)), 0);
}

Test(tally, counters_of_32_bits_saturate)
{
	struct counters counters = {.samples = {[SOURCE_L1] = 1ULL << 33},
				    .latency = {[3] = (1ULL << 32) + 5, [4] = 7},
				    .locked = 1ULL << 40,
				    .snoop = {[SNOOP_HITM] = 1ULL << 32},
				    .tlb = {[TLB_WALK] = ~0ULL, [TLB_MISS] = 1}};
	struct tally tally = of(&counters);

	cr_expect_eq(tally.samples, 1ULL << 33, "this one has 64");
	cr_expect_eq(tally.latency_samples, (1ULL << 32) + 12);
	cr_expect_eq(tally.sources[SOURCE_L1], ~0U);
	cr_expect_eq(tally.latency[3], ~0U);
	cr_expect_eq(tally.latency[4], 7);
	cr_expect_eq(tally.locked, ~0U);
	cr_expect_eq(tally.hitm, ~0U);
	cr_expect_eq(tally.tlb_walk, ~0U);
}

Test(tally, sums_saturate_and_return_to_zero_when_all_is_removed)
{
	struct tally large = {.samples = 0xffffffff, .latency_samples = 0xffffffff, .latency[7] = 0xffffffff};
	struct tally small = {.samples = 2, .latency_samples = 2, .latency[7] = 1, .latency[8] = 1};
	struct tally zero = {0};
	struct tally sum = {0};

	tally_add(&sum, &large);
	tally_add(&sum, &small);
	cr_expect_eq(sum.samples, 0x100000001);
	cr_expect_eq(sum.latency[7], ~0U);
	cr_expect_eq(sum.latency[8], 1);
	tally_subtract(&sum, &large);
	cr_expect_eq(sum.latency[7], ~0U, "how much it would be is not known");
	cr_expect_eq(sum.samples, 2);
	tally_subtract(&sum, &small);
	cr_expect_eq(memcmp(&sum, &zero, sizeof(sum)), 0);
}

Test(tally, subtracting_restores_the_former_tally)
{
	struct counters one = {.samples[SOURCE_L3] = 3, .weight[SOURCE_L3] = 30, .latency[20] = 3};
	struct counters two = {.samples[SOURCE_L3] = 7, .weight[SOURCE_L3] = 7007, .latency[21] = 7};
	struct tally first = of(&one);
	struct tally second = of(&two);
	struct tally sum = first;

	tally_add(&sum, &second);
	cr_expect_eq(sum.weight_squared, 3 * 100.0 + 7 * 1001.0 * 1001.0);
	tally_subtract(&sum, &first);
	cr_expect_eq(memcmp(&sum, &second, sizeof(sum)), 0);
}

Test(tally, squares_never_fall_below_the_least_value_for_the_weights)
{
	struct tally huge = {.samples = 1, .weight = 1, .weight_squared = 1e30};
	struct tally small = {.samples = 4, .weight = 12, .weight_squared = 36};
	struct tally sum = small;

	tally_add(&sum, &huge); /* the huge value absorbs the small one */
	tally_subtract(&sum, &huge);
	cr_expect_eq(sum.weight_squared, 36, "%g", sum.weight_squared);
}

Test(tally, samples_above_a_bucket_are_counted)
{
	struct tally tally = {.latency = {[0] = 1, [10] = 2, [11] = 4, [FINE_OVERFLOW] = 8}};

	cr_expect_eq(tally_above(&tally, 0), 14);
	cr_expect_eq(tally_above(&tally, 9), 14);
	cr_expect_eq(tally_above(&tally, 10), 12);
	cr_expect_eq(tally_above(&tally, 11), 8);
	cr_expect_eq(tally_above(&tally, FINE_OVERFLOW), 0);
}
