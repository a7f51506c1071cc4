// SPDX-License-Identifier: GPL-2.0
#include "base/heap.h"

#include <malloc.h>

/* glibc's initial M_MMAP_THRESHOLD. */
#define LARGE_BYTES (128 << 10)

void heap_map_large(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

void heap_trim(void)
{
	(void)malloc_trim(0);
}
