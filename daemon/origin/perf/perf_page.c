// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_page.h"

#include <errno.h>

#define TRIES 100

int perf_page_read(const struct perf_event_mmap_page *page, u64 period, struct perf_reading *ret)
{
	for (int i = 0; i < TRIES; i++) {
		u32 before = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		u32 index = __atomic_load_n(&page->index, __ATOMIC_RELAXED);
		s64 offset = __atomic_load_n(&page->offset, __ATOMIC_RELAXED);
		u64 enabled = __atomic_load_n(&page->time_enabled, __ATOMIC_RELAXED);
		u64 running = __atomic_load_n(&page->time_running, __ATOMIC_RELAXED);

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if ((before & 1) || before != __atomic_load_n(&page->lock, __ATOMIC_RELAXED))
			continue;
		/*
		 * While the event is on a counter, the kernel has subtracted the counter's start value from
		 * the count. After a sample that start value is minus the rest of the period, so `offset` is
		 * the count at the next sample (x86_perf_event_set_period in arch/x86/events/core.c).
		 */
		if (index)
			offset = (u64)offset < period ? 0 : offset - (s64)period;
		*ret = (struct perf_reading){
			.count = offset < 0 ? 0 : (u64)offset,
			.enabled_ns = enabled,
			.running_ns = running,
			.running = index != 0,
		};
		return 0;
	}
	return -EAGAIN;
}
