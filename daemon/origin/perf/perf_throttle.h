// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the kernel's records of throttling from an event's ring. If an event overflows on a CPU more often in
 * a tick than kernel.perf_event_max_sample_rate allows, the kernel stops it there until the next tick. It
 * writes one record when it stops the event and one when the event continues (__perf_event_account_interrupt,
 * perf_log_throttle, kernel/events/core.c, Linux 6.1 and 6.12). In a group, from 6.16 on, it does so only for
 * the leader. Nothing else reports throttling. Pure functions.
 */
#ifndef PEBSD_PERF_THROTTLE_H
#define PEBSD_PERF_THROTTLE_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

/* The throttling that the ring has reported so far. All zero before the first reading. */
struct perf_throttle {
	u64 throttled_ns; /* never decreases; a lower bound if records were lost */
	u64 throttles;    /* number of times that the event was stopped; a lower bound if records were lost */
	u64 lost;         /* records that did not fit, as far as the kernel has reported */
	bool full;        /* the last reading found no space for another record */

	bool stopped; /* the event is stopped now, as far as is known */
	u64 since_ns; /* start of that stop */
	u64 until_ns; /* all time up to here is accounted for, as stopped or running */
};

/*
 * The longest time that a stop is counted without a record of its end. A throttled event continues at the
 * next tick of its CPU, at most 10 ms later (CONFIG_HZ=100). A CPU that goes idle is an exception, because it
 * stops its tick (can_stop_idle_tick, kernel/time/tick-sched.c, Linux 6.12, ignores throttled events). The
 * rest of a longer stop is counted when its end is logged. The end may never be logged, if the CPU went
 * offline or the record was lost.
 */
#define PERF_THROTTLE_MAX_NS (100 * NSEC_PER_MSEC)

/*
 * Reads the records from `tail` to `head`, in bytes as the kernel counts them (they only grow). The ring has
 * `size` bytes, a power of two, at `data`. `now_ns` is the clock of the records (perf_attr() sets
 * CLOCK_MONOTONIC), read after `head`. A stop that still lasts is counted up to now, but not longer than
 * PERF_THROTTLE_MAX_NS. The contents of the ring are not trusted: reading ends at an invalid record, and the
 * state is then unknown until the next reading.
 */
void perf_throttle_read(const unsigned char *data, u64 size, u64 tail, u64 head, u64 now_ns,
			struct perf_throttle *throttle);

#endif
