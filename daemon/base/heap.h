// SPDX-License-Identifier: GPL-2.0
/* Makes malloc(3) return memory to the kernel in a process that runs for months. */
#ifndef PEBSD_HEAP_H
#define PEBSD_HEAP_H

#include <stddef.h>

/*
 * From now on, each large allocation has a mapping of its own, which free(3) unmaps. By default, glibc raises
 * the threshold to the largest mapping that was ever freed (mallopt(3), M_MMAP_THRESHOLD). Memory freed later
 * would then stay in the heap.
 */
void heap_map_large(void);

/*
 * Returns free memory to the kernel. Call it at the end of the start, which needs more memory than the work
 * after it.
 */
void heap_trim(void);

/*
 * Returns the memory that malloc() takes for `size` bytes: its own 8 bytes, in units of 16. Large allocations, which
 * take whole pages, are not that exact.
 */
static inline size_t heap_bytes(size_t size)
{
	return size <= 24 ? 32 : (size + 8 + 15) & ~(size_t)15;
}

#endif
