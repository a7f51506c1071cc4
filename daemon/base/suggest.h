// SPDX-License-Identifier: GPL-2.0
/* "Did you mean": the known word nearest to one that is not. Pure. */
#ifndef PEBSD_SUGGEST_H
#define PEBSD_SUGGEST_H

#include <stddef.h>

/*
 * The candidate that takes the fewest letters inserted, left out, exchanged or swapped with their neighbour
 * to get to from `word`, letter case aside; NULL where none is near enough to be meant.
 */
const char *suggest_nearest(const char *word, const char *const *candidates, size_t n);

#endif
