// SPDX-License-Identifier: GPL-2.0
/* "Did you mean": finds the known word that is nearest to an unknown one. Pure function. */
#ifndef PEBSD_SUGGEST_H
#define PEBSD_SUGGEST_H

#include <stddef.h>

/*
 * Returns the candidate that is the fewest edits away from `word`. An edit inserts, deletes or replaces a
 * letter, or swaps two neighbours. Letter case is ignored. Returns NULL if no candidate is near enough.
 */
const char *suggest_nearest(const char *word, const char *const *candidates, size_t n);

#endif
