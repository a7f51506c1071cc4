// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the count and times of an event from its mapped header page. This interrupts no CPU, while read(2)
 * interrupts the CPU that the event runs on. The page is up to date as of the event's last sample, or the last
 * time that the event was scheduled in or out (perf_event_update_userpage, kernel/events/core.c and
 * arch/x86/events/core.c). Software events update the page only when they are scheduled in or out. Pure.
 */
#ifndef PEBSD_PERF_PAGE_H
#define PEBSD_PERF_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "pebsd/types.h"

struct perf_reading {
	u64 count;      /* events; while the event runs it excludes a part of the last period */
	u64 enabled_ns; /* time for which the event was enabled, without the time in error */
	u64 running_ns; /* the part of `enabled_ns` during which the event had a counter */
	bool running;   /* the event has a hardware counter, so the page is updated with each sample */
};

/*
 * Reads the page of an event with a fixed `period`. Returns 0, or -EAGAIN if the kernel kept writing the
 * page. Never blocks.
 */
int perf_page_read(const struct perf_event_mmap_page *page, u64 period, struct perf_reading *ret);

#endif
