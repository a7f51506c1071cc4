// SPDX-License-Identifier: GPL-2.0
/*
 * The counts that the model samples besides loads. They are those of a real core at MODEL_HERTZ that never
 * halts. A core of the model has a slower clock, so each of its cycles
 * stands for several real ones.
 */
#ifndef PEBSD_MODEL_COUNT_H
#define PEBSD_MODEL_COUNT_H

#include "origin/event.h"

#define MODEL_HERTZ      2600000000ULL
#define MODEL_COUNTS_MAX 4

struct model_count {
	enum event_role role; /* EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_STALLS or EVENT_MISSES */
	u64 period;           /* from one sample to the next, 1 to INT32_MAX */
};

#endif
