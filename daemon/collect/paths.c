// SPDX-License-Identifier: GPL-2.0
#include "collect/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_MIN 64

/* Hashes eight bytes at a time: paths are long, and each is looked up at each collection. */
static u64 hash_of(const char *name)
{
	u64 hash = 0xcbf29ce484222325;
	size_t length = strlen(name);

	while (length > 0) {
		size_t part = length < sizeof(u64) ? length : sizeof(u64);
		u64 word = 0;

		memcpy(&word, name, part);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
		name += part;
		length -= part;
	}
	return hash;
}

static struct path **bucket_of(const struct paths *paths, u64 hash)
{
	return &paths->buckets[hash & (paths->n_buckets - 1)];
}

static struct path *find(const struct paths *paths, const char *name, u64 hash)
{
	struct path *path = *bucket_of(paths, hash);

	while (path && (path->hash != hash || strcmp(path->series.path, name) != 0))
		path = path->next;
	return path;
}

struct path *paths_find(const struct paths *paths, const char *name)
{
	return find(paths, name, hash_of(name));
}

void path_free_figures(struct series *series)
{
	for (size_t event = 0; event < EVENTS_MAX; event++) {
		free(series->figures[event]);
		series->figures[event] = NULL;
	}
	free(series->offcore);
	series->offcore = NULL;
}

static void path_free(struct path *path)
{
	path_free_figures(&path->series);
	free(path->series.path);
	free(path);
}

static void put(struct paths *paths, struct path *path)
{
	struct path **bucket = bucket_of(paths, path->hash);

	path->next = *bucket;
	*bucket = path;
}

/* Without memory for more buckets, the chains grow instead. */
static void grow_buckets(struct paths *paths)
{
	struct path **buckets = calloc(paths->n_buckets * 2, sizeof(*buckets));

	if (!buckets)
		return;
	free(paths->buckets);
	paths->buckets = buckets;
	paths->n_buckets *= 2;
	FOREACH_PATH (paths, path)
		put(paths, path);
}

static int grow_list(struct paths *paths)
{
	size_t room = 2 * paths->room + BUCKETS_MIN;
	struct path **list = reallocarray(paths->list, room, sizeof(*list));

	if (!list)
		return -ENOMEM;
	paths->list = list;
	paths->room = room;
	return 0;
}

struct path *paths_get(struct paths *paths, const char *name)
{
	u64 hash = hash_of(name);
	struct path *path = find(paths, name, hash);

	if (path)
		return path;
	if (paths->n == paths->room && grow_list(paths) < 0)
		return NULL;
	path = calloc(1, sizeof(*path));
	if (!path)
		return NULL;
	path->series.path = strdup(name);
	if (!path->series.path) {
		free(path);
		return NULL;
	}
	path->hash = hash;
	if (paths->n >= paths->n_buckets)
		grow_buckets(paths);
	put(paths, path);
	paths->list[paths->n++] = path;
	return path;
}

static void unlink_path(struct paths *paths, const struct path *path)
{
	struct path **place = bucket_of(paths, path->hash);

	while (*place != path)
		place = &(*place)->next;
	*place = path->next;
}

void paths_sweep(struct paths *paths)
{
	size_t kept = 0;

	FOREACH_PATH (paths, path) {
		if (!path->forget) {
			paths->list[kept++] = path;
			continue;
		}
		unlink_path(paths, path);
		path_free(path);
	}
	paths->n = kept;
}

int paths_init(struct paths *paths)
{
	*paths = (struct paths){.n_buckets = BUCKETS_MIN};
	paths->buckets = calloc(paths->n_buckets, sizeof(struct path *));
	return paths->buckets ? grow_list(paths) : -ENOMEM;
}

void paths_done(struct paths *paths)
{
	FOREACH_PATH (paths, path)
		path_free(path);
	free(paths->buckets);
	free(paths->list);
	*paths = (struct paths){0};
}
