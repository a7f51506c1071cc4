// SPDX-License-Identifier: GPL-2.0
/* The memory that malloc() has given to this process. */
#ifndef PEBSD_TESTS_HEAP_H
#define PEBSD_TESTS_HEAP_H

#include <malloc.h>
#include <stddef.h>

/* Returns the bytes in use, also those of large blocks, which are mapped. 0 with the sanitizer's allocator. */
static inline size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

#endif
