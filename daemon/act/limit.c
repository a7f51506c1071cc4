// SPDX-License-Identifier: GPL-2.0
#include "act/limit.h"

static void refill(struct limit *limit, u64 now_ns)
{
	u64 back = now_ns > limit->at_ns ? (now_ns - limit->at_ns) / LIMIT_EVERY_NS : 0;

	if (back < limit->used) {
		limit->used -= back;
		limit->at_ns += back * LIMIT_EVERY_NS;
		return;
	}
	*limit = (struct limit){.at_ns = now_ns};
}

bool limit_take(struct limit *limit, u64 now_ns)
{
	refill(limit, now_ns);
	if (limit->used >= LIMIT_BURST) {
		limit->refused++;
		return false;
	}
	limit->used++;
	return true;
}

bool limit_tell(struct limit *limit, u64 *ret_refused)
{
	if (limit->told || limit->refused == 0)
		return false;
	limit->told = true;
	*ret_refused = limit->refused;
	return true;
}
