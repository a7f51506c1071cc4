// SPDX-License-Identifier: GPL-2.0
#include "collect/no_slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

int no_slot_take(struct no_slot *list, char *path)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		char **paths = reallocarray(list->paths, room, sizeof(*paths));

		if (!paths) {
			free(path);
			return -ENOMEM;
		}
		list->paths = paths;
		list->room = room;
	}
	list->paths[list->n++] = path;
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void no_slot_sort(struct no_slot *list)
{
	if (list->n > 1)
		qsort(list->paths, list->n, sizeof(*list->paths), compare);
}

void no_slot_clear(struct no_slot *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct no_slot){0};
}

const char *no_slot_find(const struct no_slot *list, const char *path)
{
	char *const *found = list && list->n > 0
				     ? bsearch(&path, list->paths, list->n, sizeof(*list->paths), compare)
				     : NULL;

	return found ? *found : NULL;
}

const char *no_slot_shown_as(const struct no_slot *list, const char *shown)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (utf8_is_shown_as(list->paths[i], shown))
			return list->paths[i];
	return NULL;
}
