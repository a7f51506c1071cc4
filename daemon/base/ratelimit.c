// SPDX-License-Identifier: GPL-2.0
#include "base/ratelimit.h"

#include <sys/param.h>

u64 ratelimit_take(struct ratelimit *limit, u64 now_ns)
{
	u64 full_ns = MAX(limit->full_ns, now_ns);
	u64 most_ns = now_ns + (limit->burst - 1) * limit->every_ns;

	if (full_ns > most_ns)
		return full_ns - most_ns;
	limit->full_ns = full_ns + limit->every_ns;
	return 0;
}
