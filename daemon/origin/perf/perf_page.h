// SPDX-License-Identifier: GPL-2.0
/*
 * An event's count and times. read(2) interrupts the CPU that the event runs on; the header page that an
 * event maps (without data pages) costs nothing and holds them as of the event's last sample, or its last
 * coming or going on its CPU (perf_event_update_userpage, kernel/events/core.c and arch/x86/events/core.c).
 * Software events write theirs only when they come and go. Pure.
 */
#ifndef PEBSD_PERF_PAGE_H
#define PEBSD_PERF_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "pebsd/types.h"

struct perf_reading {
	u64 count;      /* events; short of the last period's part while it runs */
	u64 enabled_ns; /* time since it was enabled */
	u64 running_ns; /* of that, time on its counter */
	bool running;   /* on a counter with a number: the page moves with each sample */
};

/*
 * Reads the page of an event with a fixed `period`. Returns 0, or -EAGAIN where the kernel was writing it all
 * the while. Never blocks.
 */
int perf_page_read(const struct perf_event_mmap_page *page, u64 period, struct perf_reading *ret);

#endif
