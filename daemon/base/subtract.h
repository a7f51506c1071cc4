// SPDX-License-Identifier: GPL-2.0
/* A difference of counters that may have decreased, for example when a CPU went offline. */
#ifndef PEBSD_SUBTRACT_H
#define PEBSD_SUBTRACT_H

#include "pebsd/types.h"

/* Returns a - b, or 0 if b is larger. */
static inline u64 subtract_to_zero(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

#endif
