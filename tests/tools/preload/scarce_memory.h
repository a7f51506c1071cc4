/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that is not there: what a test shares with scarce_memory.so, in the file that $SCARCE_MEMORY names.
 */
#ifndef PEBSD_TEST_PRELOAD_SCARCE_MEMORY_H
#define PEBSD_TEST_PRELOAD_SCARCE_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

struct scarce_shared {
	_Atomic int32_t process; /* whose allocations these are: the first that is loaded */
	_Atomic uint32_t armed;  /* allocations are counted, and those below fail */
	_Atomic uint64_t asked;  /* allocations since it was armed */
	_Atomic uint64_t first;  /* the first that fails */
	_Atomic uint64_t after;  /* the first after it that does not */
	_Atomic uint64_t failed;
	_Atomic int64_t live; /* blocks allocated and not freed */
};

#endif
