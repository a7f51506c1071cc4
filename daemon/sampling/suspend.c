// SPDX-License-Identifier: GPL-2.0
#include "sampling/suspend.h"

#include <time.h>

#include "base/cleanup.h"

/* The two clocks are read one after the other. A smaller difference may come from a preemption in between. */
#define SUSPENDED_LEAST_NS (100 * NSEC_PER_MSEC)

u64 suspend_judge(struct suspend *suspend, u64 boottime_ns, u64 monotonic_ns)
{
	const u64 slept_ns = (boottime_ns - suspend->boottime_ns) - (monotonic_ns - suspend->monotonic_ns);
	const bool first = !suspend->known;

	*suspend = (struct suspend){.known = true, .boottime_ns = boottime_ns, .monotonic_ns = monotonic_ns};
	return !first && (s64)slept_ns >= (s64)SUSPENDED_LEAST_NS ? slept_ns : 0;
}

static u64 ns_of(const struct timespec *time)
{
	return (u64)time->tv_sec * NSEC_PER_SEC + (u64)time->tv_nsec;
}

u64 suspend_look(struct suspend *suspend)
{
	struct timespec boottime, monotonic;

	(void)clock_gettime(CLOCK_BOOTTIME, &boottime);
	(void)clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return suspend_judge(suspend, ns_of(&boottime), ns_of(&monotonic));
}
