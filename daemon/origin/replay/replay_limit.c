// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_limit.h"

#include "account.h"

bool replay_limit_take(struct replay_limit *limit, const struct sample *samples, size_t n)
{
	u64 weighted_latency = limit->weighted_latency;

	if (limit->samples + n > REPLAY_LIMIT_SAMPLES_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(weighted_latency,
					   account_weighted_latency(samples[i].latency, samples[i].period),
					   &weighted_latency))
			return false;
	*limit = (struct replay_limit){.weighted_latency = weighted_latency, .samples = limit->samples + n};
	return true;
}
