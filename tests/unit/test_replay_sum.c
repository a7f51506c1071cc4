// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "origin/replay/replay_sum.h"

Test(replay_sum, sums_are_collected_before_they_can_wrap)
{
	static struct sample worst[INJECT_MAX];
	struct sample real = {.latency = 300, .period = 10007};
	struct replay_sum sum = {};

	for (size_t i = 0; i < INJECT_MAX; i++)
		worst[i] = (struct sample){.latency = SAMPLE_LATENCY_MAX, .period = ~0ULL};
	cr_expect(replay_sum_add(&sum, worst, INJECT_MAX));
	cr_expect_not(replay_sum_add(&sum, worst, INJECT_MAX));
	cr_expect_eq(sum.samples, INJECT_MAX);
	sum = (struct replay_sum){};
	for (u64 i = 0; i < 1000000; i++)
		cr_assert(replay_sum_add(&sum, &real, 1));
	sum.samples = REPLAY_SUM_SAMPLES_MAX - 1;
	cr_expect(replay_sum_add(&sum, &real, 1));
	cr_expect_not(replay_sum_add(&sum, &real, 1));
}
