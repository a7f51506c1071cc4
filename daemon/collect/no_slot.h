// SPDX-License-Identifier: GPL-2.0
/*
 * The paths of cgroups that exist and have no slot, as the last walk found them. A question about one of them is
 * answered with that state instead of with figures. Pure.
 */
#ifndef PEBSD_NO_SLOT_H
#define PEBSD_NO_SLOT_H

#include <stdbool.h>
#include <stddef.h>

struct no_slot {
	char **paths; /* ascending, once no_slot_sort() was called */
	size_t n;
	size_t room;
};

/* Adds a path, which it then owns. 0, or -ENOMEM with the path freed. */
int no_slot_take(struct no_slot *list, char *path);

/* After the last one was added. */
void no_slot_sort(struct no_slot *list);

void no_slot_clear(struct no_slot *list);

/* The path as the list has it; NULL: it is not among them. `list` may be NULL. */
const char *no_slot_find(const struct no_slot *list, const char *path);

static inline bool no_slot_has(const struct no_slot *list, const char *path)
{
	return no_slot_find(list, path) != NULL;
}

/* The one that is shown as `shown` (utf8_is_shown_as()); NULL: none. The list's. `list` may be NULL. */
const char *no_slot_shown_as(const struct no_slot *list, const char *shown);

#endif
