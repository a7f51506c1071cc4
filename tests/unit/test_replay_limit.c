// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "origin/replay/replay_limit.h"

Test(replay_limit, sums_are_collected_before_they_can_wrap)
{
	static struct sample worst[INJECT_MAX];
	struct sample real = {.latency = 300, .period = 10007};
	struct replay_limit limit = {};

	for (size_t i = 0; i < INJECT_MAX; i++)
		worst[i] = (struct sample){.latency = SAMPLE_LATENCY_MAX, .period = ~0ULL};
	cr_expect(replay_limit_take(&limit, worst, INJECT_MAX));
	cr_expect_not(replay_limit_take(&limit, worst, INJECT_MAX));
	cr_expect_eq(limit.samples, INJECT_MAX);
	limit = (struct replay_limit){};
	for (u64 i = 0; i < 1000000; i++)
		cr_assert(replay_limit_take(&limit, &real, 1));
	limit.samples = REPLAY_LIMIT_SAMPLES_MAX - 1;
	cr_expect(replay_limit_take(&limit, &real, 1));
	cr_expect_not(replay_limit_take(&limit, &real, 1));
}
