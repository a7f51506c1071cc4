// SPDX-License-Identifier: GPL-2.0
/*
 * An event's pages: its header page, and a ring of data pages for what the kernel logs of throttling. Nothing
 * wakes for the ring, and no sample is written to it: the event's program returns 0 (bpf_overflow_handler,
 * kernel/events/core.c, Linux 6.1 and 6.12).
 */
#ifndef PEBSD_PERF_MAP_H
#define PEBSD_PERF_MAP_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "origin/perf/perf_ring.h"

/*
 * A ring begins with one data page: 127 records of 32 bytes. An event that is throttled in each tick writes
 * two a tick, and so fills it in a quarter of a second (CONFIG_HZ=250); a ring found full is made twice as
 * large, up to this: 2,047 records.
 */
#define PERF_MAP_DATA_PAGES_MAX 16

struct perf_map {
	struct perf_event_mmap_page *page; /* NULL where the kernel did not let it be mapped */
	unsigned data_pages;               /* 0: the header page alone; throttling is then not known */
	struct perf_throttle throttle;     /* as of the last perf_map_read(); kept when the mapping ends */
};

/*
 * Maps an event's pages; where the kernel does not grant the ring (kernel.perf_event_mlock_kb and
 * RLIMIT_MEMLOCK bound it), the header page alone, and where it does not grant that, none.
 */
void perf_map_open(int fd, struct perf_map *ret);
void perf_map_close(struct perf_map *map);

/* Brings `throttle` up to date, gives the kernel its room back, and makes a ring larger that was full. */
void perf_map_read(struct perf_map *map, int fd);

#endif
