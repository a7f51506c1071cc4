// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "govern/peak.h"
#include "govern/period.h"

Test(govern_period, a_period_is_the_next_prime)
{
	static const struct {
		double wanted;
		u64 period;
	} cases[] = {
		{1, 1009},
		{1009, 1009},
		{1009.1, 1013},
		{10000, 10007},
		{10006.9, 10007},
		{99991.5, 100003},
		{-5, 1009},
		{0, 1009},
		{2147483646, 2147483647},
		{1e300, 2147483647},
		{INFINITY, 2147483647},
		{NAN, 1009},
		{4194304, 4194319},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(govern_period(cases[i].wanted, 1000, INT32_MAX, 1), cases[i].period, "%g: %llu",
			     cases[i].wanted,
			     (unsigned long long)govern_period(cases[i].wanted, 1000, INT32_MAX, 1));
	cr_expect_eq(govern_period(5000, 1000, INT32_MAX, 0), 5003, "a step of 0 is none");
}

Test(govern_period, with_a_step_a_period_is_a_prime_times_the_step)
{
	cr_expect_eq(govern_period(1048320, 144, 134217712, 16), 1048336, "16 times 65521");
	cr_expect_eq(govern_period(1048336, 144, 134217712, 16), 1048336);
	cr_expect_eq(govern_period(1048337, 144, 134217712, 16), 16UL * 65537);
	cr_expect_eq(govern_period(0, 150, 134217712, 16), 176, "the least is rounded up");
	cr_expect_eq(govern_period(1e9, 144, 134217712, 16), 134217712,
		     "8388607 is not a prime, and the last");
}

Test(govern_period, bounds_without_a_prime_are_kept)
{
	cr_expect_eq(govern_period(24, 24, 28, 1), 24);
	cr_expect_eq(govern_period(26, 24, 28, 1), 26);
	cr_expect_eq(govern_period(90, 24, 28, 1), 28);
	cr_expect_eq(govern_period(1, 1, 1, 1), 1);
	cr_expect_eq(govern_period(7, 0, 0, 1), 1, "a period of 0 is none");
	cr_expect_eq(govern_period(7, 50, 10, 1), 50, "the kernel's least before all");
}

Test(govern_peak, the_peak_is_the_largest_of_the_last_parts)
{
	struct peak peak = {.part_seconds = 3};

	cr_expect_eq(peak_get(&peak), 0);
	peak_add(&peak, 1, 5);
	for (int second = 1; second < 30; second++)
		peak_add(&peak, 1, 2);
	cr_expect_eq(peak_get(&peak), 5, "after 30 seconds");
	for (int second = 30; second < 33; second++)
		peak_add(&peak, 1, 2);
	cr_expect_eq(peak_get(&peak), 2, "after 33");
	peak_add(&peak, 1, 7);
	cr_expect_eq(peak_get(&peak), 7, "a new one counts at once");
	peak_add(&peak, 1000, 1);
	cr_expect_eq(peak_get(&peak), 1, "after a long time there is nothing else");
}
