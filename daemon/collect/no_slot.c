// SPDX-License-Identifier: GPL-2.0
#include "collect/no_slot.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/*
 * The memory of a name besides its text. This includes up to two pointers, because the array may have twice the
 * room that it needs. The 32 bytes are the allocator's overhead and rounding.
 */
#define NAME_BYTES (2 * sizeof(char *) + 32)

static int add_name(struct no_slot *list, const char *path, size_t bytes)
{
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		char **paths = reallocarray(list->paths, room, sizeof(*paths));

		if (!paths)
			return -ENOMEM;
		list->paths = paths;
		list->room = room;
	}
	list->paths[list->n] = strdup(path);
	if (!list->paths[list->n])
		return -ENOMEM;
	list->n++;
	list->bytes += bytes;
	return 0;
}

static u64 hash_of(const struct no_slot *list, const char *path)
{
	return siphash_bytes(&list->key, path, strlen(path));
}

static int add_hash(struct no_slot *list, const char *path)
{
	if (list->n_hashes == list->hashes_room) {
		size_t room = list->hashes_room ? 2 * list->hashes_room : 64;
		u64 *hashes = reallocarray(list->hashes, room, sizeof(*hashes));

		if (!hashes)
			return -ENOMEM;
		list->hashes = hashes;
		list->hashes_room = room;
	}
	if (list->n_hashes == 0)
		list->key = siphash_key_new();
	list->hashes[list->n_hashes++] = hash_of(list, path);
	return 0;
}

int no_slot_add(struct no_slot *list, const char *path)
{
	const size_t bytes = strlen(path) + 1 + NAME_BYTES;

	return bytes <= NO_SLOT_NAMES_BYTES - list->bytes ? add_name(list, path, bytes)
							  : add_hash(list, path);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_hashes(const void *a, const void *b)
{
	u64 left = *(const u64 *)a;
	u64 right = *(const u64 *)b;

	return left < right ? -1 : left > right;
}

void no_slot_sort(struct no_slot *list)
{
	if (list->n > 1)
		qsort(list->paths, list->n, sizeof(*list->paths), compare);
	if (list->n_hashes > 1)
		qsort(list->hashes, list->n_hashes, sizeof(*list->hashes), compare_hashes);
}

void no_slot_clear(struct no_slot *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->paths[i]);
	free(list->paths);
	free(list->hashes);
	*list = (struct no_slot){.generation = list->generation + 1};
}

static bool has_hash(const struct no_slot *list, const char *path)
{
	u64 hash;

	if (list->n_hashes == 0)
		return false;
	hash = hash_of(list, path);
	return bsearch(&hash, list->hashes, list->n_hashes, sizeof(*list->hashes), compare_hashes);
}

bool no_slot_has_name(const struct no_slot *list, const char *path)
{
	return list->n > 0 && bsearch(&path, list->paths, list->n, sizeof(*list->paths), compare);
}

bool no_slot_has(const struct no_slot *list, const char *path)
{
	return list && (no_slot_has_name(list, path) || has_hash(list, path));
}

/* Number of paths of the range that sort before this text: `length` bytes of `path`, then `end`. */
static size_t count_before(const struct no_slot *list, const struct no_slot_range *range, const char *path,
			   size_t length, unsigned end)
{
	size_t first = range->first, n = range->n;

	while (n > 0) {
		const char *middle = list->paths[first + n / 2];
		int order = strncmp(middle + range->known, path + range->known, length - range->known);

		if (order < 0 || (order == 0 && (unsigned char)middle[length] < end)) {
			first += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return first - range->first;
}

struct no_slot_range no_slot_all(const struct no_slot *list)
{
	return (struct no_slot_range){.n = list->n};
}

struct no_slot_range no_slot_narrow(const struct no_slot *list, const struct no_slot_range *range,
				    const char *path, size_t length)
{
	size_t before = count_before(list, range, path, length, 0);

	return (struct no_slot_range){
		.first = range->first + before,
		.n = count_before(list, range, path, length, UCHAR_MAX + 1) - before,
		.known = length,
	};
}

u64 no_slot_count(const struct no_slot *list, const struct no_slot_range *range, const char *path,
		  size_t length)
{
	if (length == 1)
		return list->n;
	/* Counts the path itself, which ends there, and the paths that continue it with a slash. */
	return count_before(list, range, path, length, 1) - count_before(list, range, path, length, 0) +
	       count_before(list, range, path, length, '/' + 1) -
	       count_before(list, range, path, length, '/');
}

u64 no_slot_count_subtree(const struct no_slot *list, const char *path, size_t length)
{
	struct no_slot_range all;

	if (!list || *path != '/')
		return 0;
	all = no_slot_all(list);
	return no_slot_count(list, &all, path, length);
}

const char *no_slot_shown_as(const struct no_slot *list, const char *shown)
{
	if (!list)
		return NULL;
	for (size_t i = 0; i < list->n; i++)
		if (utf8_is_shown_as(list->paths[i], shown))
			return list->paths[i];
	return utf8_is_shown_as(shown, shown) && has_hash(list, shown) ? shown : NULL;
}
