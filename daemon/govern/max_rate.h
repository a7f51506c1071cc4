// SPDX-License-Identifier: GPL-2.0
/* kernel.perf_event_max_sample_rate: samples a second and CPU, above which the kernel throttles an event, and
 * which it lowers where interrupts take too long. */
#ifndef PEBSD_MAX_RATE_H
#define PEBSD_MAX_RATE_H

#include "pebsd/types.h"

/* A descriptor to read it from again and again; -1 where it cannot be read. */
int max_rate_open(void);

/* As it is now; 0 where that is not known. */
u64 max_rate_read(int fd);

#endif
