// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroups that exist and have no slot, as the last walk found them. The answer to a request about such a
 * cgroup says so, and has no figures. Users choose the number and the length of the paths, so the list stores only
 * some names. Of every other path it has a hash, by which it recognizes the path. Pure.
 */
#ifndef PEBSD_NO_SLOT_H
#define PEBSD_NO_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/siphash.h"

/* Limit of the names, including the memory that each takes in the list and the allocator's overhead. */
#define NO_SLOT_NAMES_BYTES ((size_t)4 << 20)

/*
 * Limit of the whole list: the names, and the hashes of all other cgroups. A walk finds at most
 * KERNEL_SLOTS_MAX cgroups with a name.
 */
#define NO_SLOT_BYTES ((size_t)5 << 20)

/* All zero: empty. */
struct no_slot {
	char **paths; /* ascending, once no_slot_sort() was called */
	size_t n;
	size_t room;
	size_t bytes; /* of the names, at most NO_SLOT_NAMES_BYTES */
	u64 *hashes;  /* of the paths whose names are not stored; ascending, as `paths` */
	size_t n_hashes;
	size_t hashes_room;
	struct siphash_key key;
	u64 generation; /* no_slot_clear() increments it */
};

/* Adds a copy of the path. Returns 0, or -ENOMEM with nothing added. */
int no_slot_add(struct no_slot *list, const char *path);

/* Call this after the last path was added. */
void no_slot_sort(struct no_slot *list);

void no_slot_clear(struct no_slot *list);

/* Returns whether the path was added. `list` may be NULL. */
bool no_slot_has(const struct no_slot *list, const char *path);

/* Returns whether `paths` contains the path. */
bool no_slot_has_name(const struct no_slot *list, const char *path);

/*
 * Returns the number of paths in `paths` that are the path of `length` bytes, or lie below it. Cgroups of which
 * the list has only a hash are not counted. `list` may be NULL.
 */
u64 no_slot_count_subtree(const struct no_slot *list, const char *path, size_t length);

/* Some of `paths`, one after another, which all begin with the same `known` bytes. */
struct no_slot_range {
	size_t first, n, known;
};

/*
 * For one path after another, from the root down: no_slot_all() is the range for the root, and no_slot_narrow()
 * returns the range of the paths that begin with the `length` bytes of `path`. no_slot_count() counts like
 * no_slot_count_subtree() and searches only the range. The path begins with the bytes that the range's paths
 * have in common.
 */
struct no_slot_range no_slot_all(const struct no_slot *list);
struct no_slot_range no_slot_narrow(const struct no_slot *list, const struct no_slot_range *range,
				    const char *path, size_t length);
u64 no_slot_count(const struct no_slot *list, const struct no_slot_range *range, const char *path,
		  size_t length);

/*
 * Returns the path that is displayed as `shown` (utf8_is_shown_as()). The path is owned by the list, or is
 * `shown` itself if the list has only the path's hash and the path is displayed unchanged. NULL: none. `list`
 * may be NULL.
 */
const char *no_slot_shown_as(const struct no_slot *list, const char *shown);

#endif
