// SPDX-License-Identifier: GPL-2.0
#include "collect/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_MIN 64

/* FNV-1a. */
static u64 hash_of(const char *name)
{
	u64 hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
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

struct path *paths_next(const struct paths *paths, size_t *bucket, struct path *path)
{
	path = path ? path->next : NULL;
	while (!path && *bucket < paths->n_buckets)
		path = paths->buckets[(*bucket)++];
	return path;
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

/* Without memory for more buckets the chains grow instead. */
static void grow(struct paths *paths)
{
	struct paths grown = {.n_buckets = paths->n_buckets * 2, .n = paths->n};

	grown.buckets = calloc(grown.n_buckets, sizeof(struct path *));
	if (!grown.buckets)
		return;
	for (size_t i = 0; i < paths->n_buckets; i++)
		for (struct path *path = paths->buckets[i], *next; path; path = next) {
			next = path->next;
			put(&grown, path);
		}
	free(paths->buckets);
	*paths = grown;
}

struct path *paths_get(struct paths *paths, const char *name)
{
	u64 hash = hash_of(name);
	struct path *path = find(paths, name, hash);

	if (path)
		return path;
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
		grow(paths);
	put(paths, path);
	paths->n++;
	return path;
}

void paths_sweep(struct paths *paths)
{
	for (size_t i = 0; i < paths->n_buckets; i++)
		for (struct path **place = &paths->buckets[i], *path = *place; path; path = *place) {
			if (!path->forget) {
				place = &path->next;
				continue;
			}
			*place = path->next;
			path_free(path);
			paths->n--;
		}
}

int paths_init(struct paths *paths)
{
	*paths = (struct paths){.n_buckets = BUCKETS_MIN};
	paths->buckets = calloc(paths->n_buckets, sizeof(struct path *));
	return paths->buckets ? 0 : -ENOMEM;
}

void paths_done(struct paths *paths)
{
	for (size_t i = 0; paths->buckets && i < paths->n_buckets; i++)
		for (struct path *path = paths->buckets[i], *next; path; path = next) {
			next = path->next;
			path_free(path);
		}
	free(paths->buckets);
	*paths = (struct paths){0};
}
