// SPDX-License-Identifier: GPL-2.0
#include "base/monotonic.h"

#include "base/cleanup.h"

u64 monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

u64 realtime_us(const struct timespec *time)
{
	return (u64)time->tv_sec * (NSEC_PER_SEC / NSEC_PER_USEC) + (u64)time->tv_nsec / NSEC_PER_USEC;
}

struct timespec realtime_of_us(u64 us)
{
	return (struct timespec){.tv_sec = (time_t)(us / (NSEC_PER_SEC / NSEC_PER_USEC)),
				 .tv_nsec = (long)(us % (NSEC_PER_SEC / NSEC_PER_USEC) * NSEC_PER_USEC)};
}
