// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of this process: anonymous memory in RAM (RssAnon). Files and shared memory, such as BPF maps,
 * are not included. The kernel's counters lag behind by some pages per CPU (mm/memory.c, Linux 6.2:
 * percpu_counter).
 */
#ifndef PEBSD_OWN_MEMORY_H
#define PEBSD_OWN_MEMORY_H

#include "pebsd/types.h"

/* Opens the file that own_memory_read() reads. Returns a descriptor that the caller owns, or -errno. */
int own_memory_open(void);

/* Reads the current size in bytes, with one read of the open file. Returns 0 or -errno. */
int own_memory_read(int fd, u64 *ret);

/*
 * Returns the peak since the process started: the peak of all resident memory, less the current file and
 * shared pages, but at least the current anonymous memory. It is exact if the number of file and shared pages
 * is the same as at the peak. Returns 0, -errno, or -ENODATA if /proc lacks a line.
 */
int own_memory_peak(u64 *ret);

/*
 * The parsers alone: "size resident shared ..." in pages, and the lines of /proc/self/status. They return 0
 * or -ENODATA.
 */
int own_memory_of_statm(const char *text, u64 page_size, u64 *ret);
int own_memory_peak_of_status(const char *text, u64 *ret);

#endif
