// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_sum.h"

#include "account.h"

bool replay_sum_add(struct replay_sum *sum, const struct sample *samples, size_t n)
{
	u64 weighted_latency = sum->weighted_latency;

	if (sum->samples + n > REPLAY_SUM_SAMPLES_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(weighted_latency,
					   account_weighted_latency(samples[i].latency, samples[i].period),
					   &weighted_latency))
			return false;
	*sum = (struct replay_sum){.weighted_latency = weighted_latency, .samples = sum->samples + n};
	return true;
}
