// SPDX-License-Identifier: GPL-2.0
/*
 * Times of clocks. For CLOCK_MONOTONIC there is base/monotonic.h. CLOCK_THREAD_CPUTIME_ID and CLOCK_PROCESS_CPUTIME_ID
 * count only the own work, so that other work on the CPU disturbs a measurement little.
 */
#ifndef PEBSD_TESTS_CLOCK_H
#define PEBSD_TESTS_CLOCK_H

#include <time.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

/* Returns nanoseconds of a clock that every system has, or of a thread or process that exists. */
static inline u64 clock_ns(clockid_t clock)
{
	struct timespec time;

	(void)clock_gettime(clock, &time);
	return (u64)time.tv_sec * NSEC_PER_SEC + (u64)time.tv_nsec;
}

#endif
