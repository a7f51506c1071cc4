// SPDX-License-Identifier: GPL-2.0
/*
 * The paths of cgroups that exist and have no slot, as the last walk found them. A request about one of them
 * is answered with that state instead of figures. Pure.
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

/* Adds a path, and owns it from now on. Returns 0, or -ENOMEM with the path freed. */
int no_slot_take(struct no_slot *list, char *path);

/* Call this after the last path was added. */
void no_slot_sort(struct no_slot *list);

void no_slot_clear(struct no_slot *list);

/* The path as stored in the list; NULL: not found. `list` may be NULL. */
const char *no_slot_find(const struct no_slot *list, const char *path);

static inline bool no_slot_has(const struct no_slot *list, const char *path)
{
	return no_slot_find(list, path) != NULL;
}

/*
 * The path that is displayed as `shown` (utf8_is_shown_as()), owned by the list; NULL: none. `list` may be NULL.
 */
const char *no_slot_shown_as(const struct no_slot *list, const char *shown);

#endif
