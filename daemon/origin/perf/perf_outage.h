// SPDX-License-Identifier: GPL-2.0
/*
 * How long an event has been in error. A pinned event that finds its counter taken goes into that state until
 * it is enabled again (perf_event_set_state(), kernel/events/core.c, Linux 6.1 and 6.12); its time enabled
 * stands still meanwhile, and read(2) gives nothing, so the kernel does not tell how long it was. Pure.
 */
#ifndef PEBSD_PERF_OUTAGE_H
#define PEBSD_PERF_OUTAGE_H

#include <stdbool.h>

#include "pebsd/types.h"

struct perf_outage {
	u64 ns;      /* in error, at least: when an outage began between two readings is not known */
	u64 seen_ns; /* the last reading; before the first, when the event was enabled */
	bool in_error;
	bool counted; /* at some reading */
};

/* The event is enabled at `now_ns`, of any clock that goes on. */
void perf_outage_start(struct perf_outage *outage, u64 now_ns);

/* A reading at `now_ns`. One that has never counted has been in error since it was enabled. */
void perf_outage_note(struct perf_outage *outage, bool in_error, u64 now_ns);

#endif
