// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "pebsd/histogram.h"

#define LAST ((1U << HISTOGRAM_MAX_LOG2) + 2)

Test(histogram, bit_length_is_exact)
{
	cr_expect_eq(histogram_bit_length(0), 0);
	for (u32 bit = 0; bit < 32; bit++) {
		cr_expect_eq(histogram_bit_length(1U << bit), bit + 1);
		cr_expect_eq(histogram_bit_length((1U << bit) | ((1U << bit) - 1)), bit + 1);
	}
}

Test(histogram, fine_index_and_edges_agree_for_every_value)
{
	for (u32 cycles = 1; cycles <= LAST; cycles++) {
		u32 index = histogram_fine_index(cycles);

		cr_assert_lt(index, FINE_BUCKETS);
		cr_assert(histogram_fine_lower(index) < cycles && cycles <= histogram_fine_upper(index),
			  "%u cycles fell to bucket %u, (%u, %u]", cycles, index, histogram_fine_lower(index),
			  histogram_fine_upper(index));
	}
}

Test(histogram, octave_and_coarse_index_and_edges_agree_for_every_value)
{
	for (u32 cycles = 1; cycles <= LAST; cycles++) {
		u32 octave = histogram_octave_index(cycles);
		u32 coarse = histogram_coarse_index(cycles);

		cr_assert(octave < OCTAVE_BUCKETS && coarse < COARSE_BUCKETS);
		cr_assert(cycles <= histogram_octave_upper(octave));
		cr_assert(octave == 0 || cycles > histogram_octave_upper(octave - 1));
		cr_assert(cycles <= histogram_coarse_upper(coarse));
		cr_assert(coarse == 0 || cycles > histogram_coarse_upper(coarse - 1));
	}
}

Test(histogram, every_fine_edge_is_exact)
{
	cr_expect_eq(histogram_fine_lower(0), 0);
	for (u32 index = 0; index < FINE_OVERFLOW; index++) {
		u32 upper = histogram_fine_upper(index);

		cr_expect_eq(histogram_fine_index(upper), index);
		cr_expect_eq(histogram_fine_index(upper + 1), index + 1);
		cr_expect_eq(histogram_fine_lower(index + 1), upper);
	}
}

Test(histogram, fine_buckets_are_an_eighth_of_an_octave)
{
	static const u32 uppers[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
				     12, 13, 14, 15, 16, 18, 20, 22, 24, 26};

	for (u32 i = 0; i < sizeof(uppers) / sizeof(uppers[0]); i++)
		cr_expect_eq(histogram_fine_upper(i), uppers[i]);
	cr_expect_eq(histogram_fine_upper(FINE_OVERFLOW - 1), 1U << 20);
	cr_expect_eq(histogram_fine_upper(FINE_OVERFLOW - 2), (1U << 20) - (1U << 16));
}

Test(histogram, powers_of_two_are_edges)
{
	for (u32 log2 = 0; log2 <= HISTOGRAM_MAX_LOG2; log2++) {
		cr_expect_eq(histogram_fine_upper(histogram_fine_index(1U << log2)), 1U << log2);
		cr_expect_eq(histogram_octave_upper(histogram_octave_index(1U << log2)), 1U << log2);
		if (log2 >= COARSE_LOG2_MIN && log2 <= COARSE_LOG2_MAX)
			cr_expect_eq(histogram_coarse_upper(histogram_coarse_index(1U << log2)), 1U << log2);
	}
}

Test(histogram, the_first_and_last_bucket_have_their_edges)
{
	cr_expect_eq(histogram_fine_index(0), 0);
	cr_expect_eq(histogram_octave_index(0), 0);
	cr_expect_eq(histogram_coarse_index(0), 0);
	cr_expect_eq(histogram_fine_index(~0U), FINE_OVERFLOW);
	cr_expect_eq(histogram_octave_index(~0U), OCTAVE_OVERFLOW);
	cr_expect_eq(histogram_coarse_index(~0U), COARSE_OVERFLOW);
	cr_expect_eq(histogram_fine_index((1U << 20) + 1), FINE_OVERFLOW);
	cr_expect_eq(histogram_octave_index((1U << 20) + 1), OCTAVE_OVERFLOW);
	cr_expect_eq(histogram_coarse_index(8193), COARSE_OVERFLOW);
	cr_expect_eq(histogram_coarse_index(16), 0);
	cr_expect_eq(histogram_coarse_index(17), 1);
	cr_expect_eq(histogram_fine_upper(FINE_OVERFLOW), ~0U);
	cr_expect_eq(histogram_fine_upper(~0U), ~0U);
	cr_expect_eq(histogram_fine_lower(~0U), 1U << 20);
}
