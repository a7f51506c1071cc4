/* SPDX-License-Identifier: GPL-2.0 */
/* Scarce memory: the data that a test shares with scarce_memory.so, in the file $SCARCE_MEMORY. */
#ifndef PEBSD_TEST_PRELOAD_SCARCE_MEMORY_H
#define PEBSD_TEST_PRELOAD_SCARCE_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

struct scarce_shared {
	_Atomic int32_t process; /* process that is affected: the first one that loads this library */
	_Atomic uint32_t armed;  /* allocations are counted, and some fail */
	_Atomic uint64_t asked;  /* allocations since it was armed */
	_Atomic uint64_t first;  /* number of the first allocation that fails */
	_Atomic uint64_t after;  /* number of the first later allocation that does not fail */
	_Atomic uint64_t failed;
	_Atomic int64_t live; /* blocks that are allocated and not freed */
};

#endif
