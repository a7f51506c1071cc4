// SPDX-License-Identifier: GPL-2.0
#include "base/number_map.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

struct pair {
	u64 key;
	u64 value;
};

static int compare(const void *a, const void *b)
{
	const struct pair *x = a;
	const struct pair *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

int number_map_set(struct number_map *map, u64 key, u64 value)
{
	struct pair *pair;
	struct pair **place;

	pair = malloc(sizeof(*pair));
	if (!pair)
		return -ENOMEM;
	*pair = (struct pair){.key = key, .value = value};
	place = tsearch(pair, &map->root, compare);
	if (!place) {
		free(pair);
		return -ENOMEM;
	}
	if (*place != pair) {
		(*place)->value = value;
		free(pair);
	} else {
		map->n++;
	}
	return 0;
}

bool number_map_get(const struct number_map *map, u64 key, u64 *ret)
{
	const struct pair wanted = {.key = key};
	struct pair *const *place = tfind(&wanted, &map->root, compare);

	if (!place)
		return false;
	*ret = (*place)->value;
	return true;
}

void number_map_remove(struct number_map *map, u64 key)
{
	const struct pair wanted = {.key = key};
	struct pair *const *place = tfind(&wanted, &map->root, compare);
	struct pair *pair = place ? *place : NULL;

	if (!pair)
		return;
	(void)tdelete(pair, &map->root, compare);
	free(pair);
	map->n--;
}

void number_map_clear(struct number_map *map)
{
	tdestroy(map->root, free);
	*map = (struct number_map){};
}
