// SPDX-License-Identifier: GPL-2.0
/* CLOCK_MONOTONIC in nanoseconds. The system always has this clock. */
#ifndef PEBSD_MONOTONIC_H
#define PEBSD_MONOTONIC_H

#include "pebsd/types.h"

u64 monotonic_ns(void);

#endif
