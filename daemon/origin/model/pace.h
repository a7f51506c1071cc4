// SPDX-License-Identifier: GPL-2.0
/* How much of the model's time is due, by a clock. Pure. */
#ifndef PEBSD_MODEL_PACE_H
#define PEBSD_MODEL_PACE_H

#include "base/cleanup.h"
#include "pebsd/types.h"

/* What a step runs at most, so that those who ask in the meantime are answered. */
#define PACE_SLICE_NS (50 * NSEC_PER_MSEC)

/* What is made up for at most, after the daemon was held up: the longest interval between collections. */
#define PACE_BACKLOG_NS (60 * NSEC_PER_SEC)

struct pace {
	u64 now_ns; /* the clock's moment up to which the model has run */
};

/* The time to run next, at most a slice; 0: none is due. The pace goes on by as much. */
u64 pace_next(struct pace *pace, u64 clock_ns);

#endif
