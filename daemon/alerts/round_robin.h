// SPDX-License-Identifier: GPL-2.0
/* Takes turns among names that come and go. Pure. */
#ifndef PEBSD_ROUND_ROBIN_H
#define PEBSD_ROUND_ROBIN_H

#include <stddef.h>

/*
 * Moves the names whose turn is next to the front of the list, at most `max` and each once, and returns their
 * number. The turn begins after `last` (NULL: nobody had a turn yet), in the order of bytes, and the first
 * name follows the last one. `last` need not be in the list any more. The order of all other items changes,
 * too.
 */
size_t round_robin(const char **names, size_t n, const char *last, size_t max);

#endif
