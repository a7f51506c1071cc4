// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_stall.h"

#include "base/cleanup.h"

/* Intervals between checks with read(2). They are long, because a check interrupts a CPU that is usually idle. */
#define WAIT_MIN_NS  (1 * NSEC_PER_SEC)
#define WAIT_SOON_NS (NSEC_PER_SEC / 2)
#define WAIT_MAX_NS  (60 * NSEC_PER_SEC)

/*
 * Between an overflow and its record some hundred cycles pass, in which more events are counted (skid). They
 * could amount to a whole short period, so a stall is assumed only beyond this margin.
 */
#define SKID_MAX 4096

/* The times also change if the event was scheduled out and in without a sample, which reloads its counter. */
static bool moved(const struct perf_reading *before, const struct perf_reading *now)
{
	return now->count != before->count || now->enabled_ns != before->enabled_ns ||
	       now->running_ns != before->running_ns || now->running != before->running;
}

bool perf_stall_watch(struct perf_stall *stall, const struct perf_reading *page, u64 now_ns)
{
	if (stall->wait_ns == 0 || moved(&stall->page, page)) {
		const bool first = stall->wait_ns == 0;

		stall->page = *page;
		stall->wait_ns = stall->likely || stall->rearmed > 0 ? WAIT_SOON_NS : WAIT_MIN_NS;
		stall->look_ns = now_ns + stall->wait_ns;
		return first;
	}
	if (now_ns < stall->look_ns)
		return false;
	stall->wait_ns = stall->wait_ns < WAIT_MAX_NS / 2 ? stall->wait_ns * 2 : WAIT_MAX_NS;
	stall->look_ns = now_ns + stall->wait_ns;
	return true;
}

bool perf_stall_judge(const struct perf_stall *stall, u64 period, u64 count)
{
	u64 passed = count > stall->page.count ? count - stall->page.count : 0;
	u64 margin = period > SKID_MAX ? period : SKID_MAX;

	return passed >= period && passed - period >= margin;
}
