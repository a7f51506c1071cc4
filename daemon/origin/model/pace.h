// SPDX-License-Identifier: GPL-2.0
/* Decides how much model time must run to follow a clock. Pure. */
#ifndef PEBSD_MODEL_PACE_H
#define PEBSD_MODEL_PACE_H

#include "base/cleanup.h"
#include "pebsd/types.h"

/* Maximum time of one step, so that requests are answered in between. */
#define PACE_SLICE_NS (50 * NSEC_PER_MSEC)

/* Maximum time that is made up for after the daemon was delayed: the longest interval between collections. */
#define PACE_BACKLOG_NS (60 * NSEC_PER_SEC)

struct pace {
	u64 now_ns; /* the time of the clock up to which the model has run */
};

/* Returns the time to run next, at most a slice, or 0 if none is due. Advances `pace` by that time. */
u64 pace_next(struct pace *pace, u64 clock_ns);

#endif
