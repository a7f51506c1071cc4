// SPDX-License-Identifier: GPL-2.0
/*
 * What this process itself takes: anonymous memory in RAM (RssAnon), without files and what is shared, as BPF
 * maps are. The kernel's counters lag behind by some pages a CPU (mm/memory.c, Linux 6.2: percpu_counter).
 */
#ifndef PEBSD_OWN_MEMORY_H
#define PEBSD_OWN_MEMORY_H

#include "pebsd/types.h"

/* Opens what own_memory_read() reads. The descriptor, which is the caller's, or -errno. */
int own_memory_open(void);

/* Bytes now: one read of an open file. 0 or -errno. */
int own_memory_read(int fd, u64 *ret);

/*
 * The most since the process began: what was in RAM altogether at its fullest, less the files and shared
 * pages there are now. Exact where those did not change since. 0, -errno, -ENODATA where /proc does not tell.
 */
int own_memory_peak(u64 *ret);

/* The parsing alone: "size resident shared ..." in pages; the lines of /proc/self/status. 0 or -ENODATA. */
int own_memory_of_statm(const char *text, u64 page_size, u64 *ret);
int own_memory_peak_of_status(const char *text, u64 *ret);

#endif
