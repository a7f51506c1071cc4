// SPDX-License-Identifier: GPL-2.0
/*
 * Throttling, as the kernel logs it in an event's ring. An event that overflows on a CPU more often in a tick
 * than kernel.perf_event_max_sample_rate allows is stopped there until the next tick; the kernel writes a
 * record when it stops it and one when it lets it go on (__perf_event_account_interrupt, perf_log_throttle,
 * kernel/events/core.c, Linux 6.1 and 6.12), and in a group from 6.16 on for the leader alone. Nothing else
 * of the event tells. Pure.
 */
#ifndef PEBSD_PERF_RING_H
#define PEBSD_PERF_RING_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

/* What a ring has told so far. All zero before the first reading. */
struct perf_throttle {
	u64 throttled_ns; /* never falls; where records were lost, at least so much */
	u64 throttles;    /* how often it was stopped; where records were lost, at least */
	u64 lost;         /* records that found no room, as far as the kernel has told yet */
	bool full;        /* at the last reading there was room for no further record */

	bool stopped; /* now, as far as is known */
	u64 since_ns; /* it was stopped */
	u64 until_ns; /* all time up to here is accounted for, one way or the other */
};

/*
 * A throttled event goes on at its CPU's next tick, 10 ms away at most (CONFIG_HZ=100), but for a CPU that
 * goes idle and stops its tick (can_stop_idle_tick, kernel/time/tick-sched.c, Linux 6.12, minds no throttled
 * event). A stop is counted as it goes on for so long; the rest of a longer one when its end is logged. It
 * may never be: the CPU went offline, or the record was lost.
 */
#define PERF_THROTTLE_MAX_NS (100 * NSEC_PER_MSEC)

/*
 * Reads the records from `tail` to `head`, both as the kernel counts them (they only grow), of a ring of
 * `size` bytes at `data`, a power of two. `now_ns`: the clock of the records (perf_attr() sets
 * CLOCK_MONOTONIC), read after `head`. An event that is stopped is counted up to now. What the ring holds is
 * not trusted: a record that cannot be is an end, from which nothing is known until the next reading.
 */
void perf_ring_read(const unsigned char *data, u64 size, u64 tail, u64 head, u64 now_ns,
		    struct perf_throttle *throttle);

#endif
