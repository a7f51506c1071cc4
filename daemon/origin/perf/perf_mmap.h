// SPDX-License-Identifier: GPL-2.0
/*
 * The mapped pages of an event: its header page, and a ring of data pages for the kernel's records of
 * throttling. The ring wakes no process. An overflow writes no sample to it, because the event's program
 * returns 0 (bpf_overflow_handler, kernel/events/core.c, Linux 6.1 and 6.12).
 */
#ifndef PEBSD_PERF_MMAP_H
#define PEBSD_PERF_MMAP_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "origin/perf/perf_throttle.h"

/*
 * A ring begins with one data page, which holds 127 records of 32 bytes. An event that is throttled in each
 * tick writes two records in each tick, and so fills the page in a quarter of a second (CONFIG_HZ=250). A
 * ring found full is doubled, up to this number of pages, which hold 2,047 records.
 */
#define PERF_MMAP_DATA_PAGES_MAX 16

/*
 * The same for an event that only counts. At its usual period the kernel does not throttle it in each tick, and if a
 * ring was full, the time that the event was throttled is a lower bound.
 */
#define PERF_MMAP_COUNT_PAGES_MAX 1

struct perf_mmap {
	struct perf_event_mmap_page *page; /* NULL if the kernel did not allow the mapping */
	unsigned data_pages;           /* 0: only the header page is mapped, and throttling is not known */
	unsigned data_pages_max;       /* the ring does not grow beyond this */
	struct perf_throttle throttle; /* as of the last perf_mmap_read(); survives perf_mmap_close() */
};

/*
 * Maps the pages of an event. If the kernel refuses the ring (kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK
 * limit it), maps only the header page. If it refuses that too, maps nothing. `data_pages_max` is at least 1.
 */
void perf_mmap_open(int fd, unsigned data_pages_max, struct perf_mmap *ret);
void perf_mmap_close(struct perf_mmap *map);

/* Brings `throttle` up to date, frees the ring's space for the kernel, and enlarges a ring that was full. */
void perf_mmap_read(struct perf_mmap *map, int fd);

#endif
