// SPDX-License-Identifier: GPL-2.0
#include "act/action_rate_limit.h"

#include "base/ratelimit.h"

bool action_rate_limit_take(struct action_rate_limit *limit, u64 now_ns)
{
	struct ratelimit rate = {
		.every_ns = ACTION_RATE_EVERY_NS, .burst = ACTION_RATE_BURST, .full_ns = limit->full_ns};

	if (now_ns >= limit->full_ns) {
		limit->refused = 0;
		limit->reported = false;
	}
	if (ratelimit_take(&rate, now_ns) > 0) {
		limit->refused++;
		return false;
	}
	limit->full_ns = rate.full_ns;
	return true;
}

bool action_rate_limit_report(struct action_rate_limit *limit, u64 *ret_refused)
{
	if (limit->reported || limit->refused == 0)
		return false;
	limit->reported = true;
	*ret_refused = limit->refused;
	return true;
}
