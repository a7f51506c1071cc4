// SPDX-License-Identifier: GPL-2.0
/*
 * A map from number to number, for sample ids, tasks and cgroups. Recordings number these themselves: the map is
 * a balanced tree (tsearch(3)), so that no choice of keys in a hostile file makes it slow.
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

/* Adds `key`, or replaces its value. Returns 0 or -ENOMEM. */
int number_map_set(struct number_map *map, u64 key, u64 value);

/* Returns true if `key` is in the map. If not, leaves `ret` unchanged. */
bool number_map_get(const struct number_map *map, u64 key, u64 *ret);

/* Removes `key`, if it is in the map. */
void number_map_remove(struct number_map *map, u64 key);

/* Removes all entries and frees their memory. */
void number_map_clear(struct number_map *map);

#endif
