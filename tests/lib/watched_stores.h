// SPDX-License-Identifier: GPL-2.0
/*
 * Stores to memory that outlives the process, counted, and the end of the process before one of them: the
 * memory is write-protected, and each store to it steps through a signal. For children that only do what is
 * tested. x86-64 alone.
 */
#ifndef PEBSD_WATCHED_STORES_H
#define PEBSD_WATCHED_STORES_H

#include <stddef.h>

#include "pebsd/types.h"

/* Killed before store number `fatal` (0: never). */
void watched_stores_begin(u64 fatal);

/* At most four; of whole pages. */
void watched_stores_add(void *from, size_t bytes);

/* So far. */
u64 watched_stores_seen(void);

#endif
