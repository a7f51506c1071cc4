// SPDX-License-Identifier: GPL-2.0
#include "base/monotonic.h"

#include <time.h>

#include "base/cleanup.h"

u64 monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}
