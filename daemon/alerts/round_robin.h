// SPDX-License-Identifier: GPL-2.0
/* Lets names take turns, while names come and go. Pure. */
#ifndef PEBSD_ROUND_ROBIN_H
#define PEBSD_ROUND_ROBIN_H

#include <stddef.h>

/*
 * Puts the next names at the front of the list, at most `max` and each once, and returns their number. Names take
 * turns in byte order: the next name is the first one after `last` (NULL: no name had a turn yet), and the list
 * starts again after its end. `last` may be missing from the list. The order of all other items changes, too.
 */
size_t round_robin(const char **names, size_t n, const char *last, size_t max);

#endif
