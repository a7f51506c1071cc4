// SPDX-License-Identifier: GPL-2.0
/* The cost of a sample, depending on how often samples come. */
#include <criterion/criterion.h>
#include <math.h>

#include "govern/sample_cost.h"

/*
 * Sparse interrupts take four times as long. 100 and 25,600 a second are eight doublings apart, and each
 * doubling divides the time by the fourth root of 2.
 */
static const struct sample_cost usual = {
	.program_ns = 200,
	.dense_ns = 1000,
	.dense_per_second = 25600,
	.sparse_ns = 4000,
	.sparse_per_second = 100,
};

Test(sample_cost, at_a_timed_rate_an_interrupt_costs_the_timed_value)
{
	cr_expect_float_eq(sample_cost_interrupt_ns(&usual, 100), 4000, 1e-6);
	cr_expect_float_eq(sample_cost_interrupt_ns(&usual, 25600), 1000, 1e-6);
}

Test(sample_cost, beyond_the_timed_rates_the_cost_is_constant)
{
	cr_expect_float_eq(sample_cost_interrupt_ns(&usual, 0), 4000, 1e-6);
	cr_expect_float_eq(sample_cost_interrupt_ns(&usual, 0.01), 4000, 1e-6);
	cr_expect_float_eq(sample_cost_interrupt_ns(&usual, 1e6), 1000, 1e-6);
}

Test(sample_cost, between_timed_rates_each_doubling_reduces_the_cost_by_the_same_factor)
{
	cr_expect_float_eq(sample_cost_interrupt_ns(&usual, 200), 4000 * pow(2, -0.25), 1e-6);
	cr_expect_float_eq(sample_cost_interrupt_ns(&usual, 1600), 2000, 1e-6);
}

Test(sample_cost, the_share_includes_interrupt_and_program)
{
	cr_expect_float_eq(sample_cost_share(&usual, 1600), 1600 * 2200e-9, 1e-12);
	cr_expect_float_eq(sample_cost_share(&usual, 100), 100 * 4200e-9, 1e-12);
	cr_expect_eq(sample_cost_share(&usual, 0), 0);
}

Test(sample_cost, the_rate_of_a_share_costs_that_share)
{
	static const double shares[] = {1e-6, 1e-5, 3e-4, 0.001, 0.0012, 0.005, 0.02, 0.3, 1, 9};

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		const double share = shares[i];

		cr_expect_float_eq(sample_cost_share(&usual, sample_cost_rate(&usual, share)) / share, 1,
				   1e-9, "%g", share);
	}
	cr_expect_float_eq(sample_cost_rate(&usual, 100 * 4200e-9), 100, 1e-6);
}

/* If more samples could cost less, the governor would find two answers, or go in the wrong direction. */
Test(sample_cost, cost_grows_with_samples_and_cost_per_sample_falls)
{
	const struct sample_cost costs[] = {
		usual,
		{.dense_ns = 186, .dense_per_second = 25000, .sparse_ns = 1700, .sparse_per_second = 100},
		{.dense_ns = 10, .dense_per_second = 200, .sparse_ns = 1e6, .sparse_per_second = 100},
		{.dense_ns = 1000, .dense_per_second = 25000, .sparse_ns = 900, .sparse_per_second = 100},
		{.dense_ns = 1000, .dense_per_second = 50, .sparse_ns = 2000, .sparse_per_second = 100},
		{.dense_ns = 1000},
	};

	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		double share = 0, ns = INFINITY;

		for (int step = 0; step < 145; step++) {
			const double rate = pow(1.1, step);

			cr_expect_geq(sample_cost_share(&costs[i], rate), share * (1 - 1e-12), "%zu: %g", i,
				      rate);
			cr_expect_leq(sample_cost_interrupt_ns(&costs[i], rate), ns * (1 + 1e-12), "%zu: %g",
				      i, rate);
			share = sample_cost_share(&costs[i], rate);
			ns = sample_cost_interrupt_ns(&costs[i], rate);
		}
	}
}

Test(sample_cost, sparse_timings_below_dense_ones_count_as_dense)
{
	struct sample_cost cost = usual;

	cost.sparse_ns = 900;
	cr_expect_float_eq(sample_cost_interrupt_ns(&cost, 10), 1000, 1e-6);
}

Test(sample_cost, without_sparse_timings_all_samples_cost_as_dense_ones)
{
	struct sample_cost cost = usual;

	cost.sparse_ns = 0;
	for (unsigned rate = 1; rate < 1000000; rate *= 10)
		cr_expect_float_eq(sample_cost_interrupt_ns(&cost, rate), 1000, 1e-6);
	cr_expect_float_eq(sample_cost_rate(&cost, 0.0012), 1000, 1e-6);
}

/* The kernel's limit may prevent dense samples, so the dense timing can have the lower rate. */
Test(sample_cost, of_two_timings_at_low_rates_the_longer_counts)
{
	struct sample_cost cost = usual;

	cost.dense_per_second = 50;
	cr_expect_float_eq(sample_cost_interrupt_ns(&cost, 10), 4000, 1e-6);
	cr_expect_float_eq(sample_cost_interrupt_ns(&cost, 1e5), 4000, 1e-6);
	cr_expect_float_eq(sample_cost_rate(&cost, 0.0042), 1000, 1e-6);
}

Test(sample_cost, invalid_numbers_are_unusable)
{
	static const double numbers[] = {-1, NAN, INFINITY, -INFINITY};
	struct sample_cost cost = usual;

	cr_expect(sample_cost_usable(&cost));
	cost.dense_ns = 0;
	cr_expect_not(sample_cost_usable(&cost));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		double *const fields[] = {&cost.program_ns, &cost.dense_ns, &cost.dense_per_second,
					  &cost.sparse_ns, &cost.sparse_per_second};

		for (size_t field = 0; field < sizeof(fields) / sizeof(fields[0]); field++) {
			cost = usual;
			*fields[field] = numbers[i];
			cr_expect_not(sample_cost_usable(&cost), "field %zu, %g", field, numbers[i]);
		}
	}
}
