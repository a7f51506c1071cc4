// SPDX-License-Identifier: GPL-2.0
#include "http/http_limit.h"

#include <sys/param.h>

u64 http_limit_take(struct http_limit *limit, u64 now_ns)
{
	u64 full_ns = MAX(limit->full_ns, now_ns);
	u64 most_ns = now_ns + (limit->burst - 1) * limit->every_ns;

	if (full_ns > most_ns)
		return full_ns - most_ns;
	limit->full_ns = full_ns + limit->every_ns;
	return 0;
}
