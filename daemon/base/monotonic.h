// SPDX-License-Identifier: GPL-2.0
/* CLOCK_MONOTONIC, and moments by it and by CLOCK_REALTIME. */
#ifndef PEBSD_MONOTONIC_H
#define PEBSD_MONOTONIC_H

#include <time.h>

#include "pebsd/types.h"

/* A moment by both clocks. */
struct clocks {
	u64 realtime_us;  /* CLOCK_REALTIME */
	u64 monotonic_ns; /* CLOCK_MONOTONIC, which never decreases */
};

/* Nanoseconds of CLOCK_MONOTONIC. The system always has this clock. */
u64 monotonic_ns(void);

/* A time of CLOCK_REALTIME in microseconds. */
u64 realtime_us(const struct timespec *time);
struct timespec realtime_of_us(u64 us);

#endif
