// SPDX-License-Identifier: GPL-2.0
/*
 * Reads kernel.perf_event_max_sample_rate: the samples a second and CPU above which the kernel throttles an
 * event. The kernel lowers it when interrupts take too long.
 */
#ifndef PEBSD_MAX_RATE_H
#define PEBSD_MAX_RATE_H

#include "pebsd/types.h"

/* Returns a descriptor that can be read repeatedly, or -1 if it cannot be opened. */
int max_rate_open(void);

/* Returns the present value, or 0 if it is unknown. */
u64 max_rate_read(int fd);

#endif
