// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "random_numbers.h"
#include "window/quantile.h"

static void expect_near(double value, double expected)
{
	cr_expect(fabs(value - expected) < 1e-6, "%.9f is not %.9f", value, expected);
}

Test(quantile, without_samples_a_quantile_is_unknown)
{
	static const u64 histogram[FINE_BUCKETS];
	struct quantile quantile = {.value = 42};

	cr_expect_eq(quantile_of(histogram, 0.5, &quantile), -ENODATA);
	expect_near(quantile.value, 42);
}

Test(quantile, interpolates_within_the_bucket_as_prometheus_does)
{
	/* 4 of 10 latencies are in (16, 18] and 6 in (18, 20]. Rank 5 is the first of these six. */
	static const u64 histogram[FINE_BUCKETS] = {[16] = 4, [17] = 6};
	struct quantile quantile;

	cr_assert_eq(quantile_of(histogram, 0.5, &quantile), 0);
	cr_expect_eq(quantile.low, 18);
	cr_expect_eq(quantile.high, 20);
	expect_near(quantile.value, 18 + 2 * (1.0 / 6));

	cr_assert_eq(quantile_of(histogram, 0.4, &quantile), 0);
	cr_expect_eq(quantile.high, 18, "the fourth of ten is still in the first bucket");
	expect_near(quantile.value, 18);

	cr_assert_eq(quantile_of(histogram, 1, &quantile), 0);
	expect_near(quantile.value, 20);
}

Test(quantile, a_single_sample_has_the_bounds_of_its_bucket)
{
	static const u64 histogram[FINE_BUCKETS] = {[0] = 1};
	struct quantile quantile;

	cr_assert_eq(quantile_of(histogram, 0.001, &quantile), 0);
	cr_expect_eq(quantile.low, 0);
	cr_expect_eq(quantile.high, 1);
	cr_assert_eq(quantile_of(histogram, 0.999, &quantile), 0);
	cr_expect_eq(quantile.high, 1);
}

Test(quantile, rank_is_not_shifted_by_binary_fractions)
{
	static const u64 histogram[FINE_BUCKETS] = {[2] = 7, [3] = 93};
	struct quantile quantile;

	cr_assert_eq(quantile_of(histogram, 0.07, &quantile), 0);
	cr_expect_eq(quantile.high, 3, "the 7th of 100 is the last of the first bucket");
}

Test(quantile, in_the_overflow_bucket_a_quantile_is_its_lower_edge)
{
	static const u64 histogram[FINE_BUCKETS] = {[5] = 1, [FINE_OVERFLOW] = 99};
	struct quantile quantile;

	cr_assert_eq(quantile_of(histogram, 0.5, &quantile), 0);
	cr_expect_eq(quantile.low, 1U << 20);
	cr_expect_eq(quantile.high, ~0U);
	expect_near(quantile.value, 1U << 20);
}

static int compare(const void *a, const void *b)
{
	u32 left = *(const u32 *)a, right = *(const u32 *)b;

	return (left > right) - (left < right);
}

/* The exact quantile, found by sorting, must lie within the bounds. */
Test(quantile, bounds_hold_the_exact_quantile)
{
	static const u64 permille[] = {1, 10, 250, 500, 900, 950, 990, 999, 1000};
	u64 state = XORSHIFT_SEED;

	for (size_t round = 0; round < 200; round++) {
		u64 histogram[FINE_BUCKETS] = {0};
		u32 latencies[997];
		size_t n = 1 + round * 5 % 997;

		for (size_t i = 0; i < n; i++) {
			(void)xorshift(&state);
			latencies[i] = 1 + (u32)(state >> 40) % (1U << (state % 22));
			histogram[histogram_fine_index(latencies[i])]++;
		}
		qsort(latencies, n, sizeof(latencies[0]), compare);
		for (size_t i = 0; i < sizeof(permille) / sizeof(permille[0]); i++) {
			size_t rank = (n * permille[i] + 999) / 1000;
			u32 exact = latencies[rank - 1];
			struct quantile quantile;

			cr_assert_eq(quantile_of(histogram, (double)permille[i] / 1000, &quantile), 0);
			cr_assert(quantile.low < exact && exact <= quantile.high,
				  "round %zu, %llu permille of %zu: %u is not in (%u, %u]", round,
				  (unsigned long long)permille[i], n, exact, quantile.low, quantile.high);
			cr_assert(quantile.low <= quantile.value && quantile.value <= quantile.high);
		}
	}
}
