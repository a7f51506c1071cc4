// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "model/contention.h"

Test(model_contention, a_line_waits_as_the_utilization_says)
{
	static const struct {
		u64 lines, cycles;
		u32 service, wait;
	} cases[] = {
		{0, 1000000, 100, 0},      /* nobody */
		{1000, 1000000, 100, 5},   /* a tenth: 100 * 0.1 / (2 * 0.9) */
		{5000, 1000000, 100, 50},  /* a half */
		{9000, 1000000, 100, 450}, /* nine tenths */
		{9000, 1000000, 50, 20},   /* the same lines through a channel that is twice as fast */
		{4500, 1000000, 200, 900}, {9500, 1000000, 100, 950},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_eq(contention_wait(cases[i].lines, cases[i].cycles, cases[i].service),
			     cases[i].wait, "%zu: %u", i,
			     contention_wait(cases[i].lines, cases[i].cycles, cases[i].service));
}

Test(model_contention, more_lines_than_fit_wait_as_at_the_highest_utilization)
{
	const u32 most = contention_wait(9500, 1000000, 100);

	cr_expect_eq(contention_wait(10000, 1000000, 100), most);
	cr_expect_eq(contention_wait(1000000, 1000000, 100), most);
	cr_expect_eq(contention_wait(5, 0, 100), 0, "no time has passed");
}
