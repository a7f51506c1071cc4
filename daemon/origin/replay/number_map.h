// SPDX-License-Identifier: GPL-2.0
/*
 * A map from number to number, for what recordings number themselves: sample ids, tasks, cgroups. A balanced
 * tree (tsearch(3)): no choice of keys in a hostile file makes it slow.
 */
#ifndef PEBSD_NUMBER_MAP_H
#define PEBSD_NUMBER_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* All zero is an empty map. */
struct number_map {
	void *root;
	size_t n;
};

/* Enters `key`, or gives it another value. Returns 0 or -ENOMEM. */
int number_map_set(struct number_map *map, u64 key, u64 value);

/* Whether `key` is there; `ret` is left alone where it is not. */
bool number_map_get(const struct number_map *map, u64 key, u64 *ret);

/* Removes all and frees their memory. */
void number_map_clear(struct number_map *map);

#endif
