// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroup paths that the series table knows: those with recent samples, with a series, or that had a series.
 */
#ifndef PEBSD_PATHS_H
#define PEBSD_PATHS_H

#include "collect/series.h"

enum path_standing {
	PATH_WAITING,  /* no series and no figures: its samples are in `other` */
	PATH_EXPORTED, /* the path has a series */
	PATH_ENDED,    /* the path had a series; the figures are kept for its return */
};

struct path {
	struct series series;
	struct path *next; /* next path in the hash bucket */
	u64 hash;
	enum path_standing standing;
	double samples; /* decays as the cost does */
	u64 seen_ns;    /* time of the path's last sample */

	/* The plan of the update under way. */
	double next_cost;
	double next_samples;
	bool has_input;
	bool excluded;
	bool in_top;
	bool owns;   /* differences of the path go to its own series */
	bool forget; /* to be removed by paths_sweep() */
};

struct paths {
	struct path **buckets;
	size_t n_buckets;   /* a power of two */
	struct path **list; /* all of them, in no particular order */
	size_t n;
	size_t room;
};

/* Returns 0 or -ENOMEM. */
int paths_init(struct paths *paths);
void paths_done(struct paths *paths);

/* Returns NULL if the path is not known. */
struct path *paths_find(const struct paths *paths, const char *name);

/* Finds or adds the path; a new one is WAITING and has no cost. NULL: no memory. */
struct path *paths_get(struct paths *paths, const char *name);

/* Removes and frees paths with `forget` set. */
void paths_sweep(struct paths *paths);

void path_free_figures(struct series *series);

/* Do not add or remove paths inside the loop. */
#define FOREACH_PATH(paths, path)                                                                     \
	for (struct path **_at = (paths)->list, **_end = _at + (paths)->n, *path; _at != _end; _at++) \
		if ((path = *_at))

#endif
