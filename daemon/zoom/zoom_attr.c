// SPDX-License-Identifier: GPL-2.0
#include "zoom/zoom_attr.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

#include "origin/pmu/perf_attr.h"

/* Fields that records of every kind carry. */
#define OF_ALL (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

#define COUNTS (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST)

void zoom_attr(const struct event_spec *spec, const struct zoom_ways *ways, bool logs_tasks,
	       struct perf_event_attr *ret)
{
	perf_attr(spec, spec->event.period, ret);
	ret->sample_type |=
		OF_ALL | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP;
	if (ways->physical && spec->event.settings.has_address)
		ret->sample_type |= PERF_SAMPLE_PHYS_ADDR;
	if (ways->lbr) {
		ret->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		/*
		 * Leaves out flags and cycles: a call stack does not need them, and decoding them costs time.
		 */
		ret->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					  PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	}
	ret->read_format = COUNTS;
	ret->sample_id_all = 1;
	ret->wakeup_events = INT_MAX;
	/* Not pinned: always-on events take precedence. A cgroup's events are scheduled with its tasks. */
	ret->pinned = 0;
	if (!logs_tasks)
		return;
	ret->mmap = ret->mmap2 = 1;
	ret->comm = ret->comm_exec = 1;
	ret->task = 1;
	ret->build_id = ways->build_ids;
}

void zoom_attr_leader(const struct event_spec *spec, struct perf_event_attr *ret)
{
	perf_attr_leader(spec, ret);
	/*
	 * From Linux 6.16 on, throttling is logged for the leader only. The record in the ring must identify
	 * the event.
	 */
	ret->sample_type = OF_ALL;
	ret->read_format = COUNTS;
	ret->sample_id_all = 1;
	ret->pinned = 0;
}

bool zoom_attr_weaken(int error, struct zoom_ways *ways)
{
	switch (error) {
	case -EINVAL:
	case -EOPNOTSUPP:
	case -EACCES:
	case -EPERM:
		break;
	default:
		return false;
	}
	if (ways->lbr)
		ways->lbr = false;
	else if (ways->build_ids)
		ways->build_ids = false;
	else if (ways->physical)
		ways->physical = false;
	else
		return false;
	return true;
}
