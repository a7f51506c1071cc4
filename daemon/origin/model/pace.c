// SPDX-License-Identifier: GPL-2.0
#include "origin/model/pace.h"

u64 pace_next(struct pace *pace, u64 clock_ns)
{
	u64 due = clock_ns > pace->now_ns ? clock_ns - pace->now_ns : 0;

	if (due > PACE_BACKLOG_NS) {
		pace->now_ns = clock_ns - PACE_BACKLOG_NS;
		due = PACE_BACKLOG_NS;
	}
	if (due > PACE_SLICE_NS)
		due = PACE_SLICE_NS;
	pace->now_ns += due;
	return due;
}
