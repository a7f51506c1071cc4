// SPDX-License-Identifier: GPL-2.0
/*
 * Measures how long an event has been in error. A pinned event whose counter is taken enters the error state
 * until it is enabled again (perf_event_set_state(), kernel/events/core.c, Linux 6.1 and 6.12). Meanwhile its
 * enabled time stands still and read(2) returns nothing, so the kernel does not report the duration. Pure
 * functions.
 */
#ifndef PEBSD_PERF_OUTAGE_H
#define PEBSD_PERF_OUTAGE_H

#include <stdbool.h>

#include "pebsd/types.h"

struct perf_outage {
	u64 ns;      /* lower bound of the time in error: readings do not show exactly when an outage began */
	u64 seen_ns; /* time of the last reading, or of enabling the event before the first reading */
	bool in_error;
	bool counted; /* at least one reading found the event not in error */
};

/* The event is enabled at `now_ns` of a monotonic clock. */
void perf_outage_start(struct perf_outage *outage, u64 now_ns);

/* Notes a reading at `now_ns`. An event that has never counted has been in error since it was enabled. */
void perf_outage_note(struct perf_outage *outage, bool in_error, u64 now_ns);

#endif
