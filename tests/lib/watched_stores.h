// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the stores to memory that outlives the process, and kills the process before a chosen store. The
 * memory is write-protected, and each store raises a signal and is single-stepped. For child processes that
 * do nothing but the tested work. x86-64 only.
 */
#ifndef PEBSD_WATCHED_STORES_H
#define PEBSD_WATCHED_STORES_H

#include <stddef.h>

#include "pebsd/types.h"

/* Kills the process before store number `fatal` (0: never). */
void watched_stores_begin(u64 fatal);

/* Watches a range of whole pages. At most four ranges are possible. */
void watched_stores_add(void *from, size_t bytes);

/* Returns the number of stores so far. */
u64 watched_stores_seen(void);

#endif
