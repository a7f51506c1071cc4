// SPDX-License-Identifier: GPL-2.0
/* The tree of cgroups that this machine is sampled by: where it is, and those that are older than pebsd. */
#ifndef PEBSD_SAMPLING_TREE_H
#define PEBSD_SAMPLING_TREE_H

#include "base/failure.h"
#include "config/config.h"
#include "engine/engine.h"

struct sampling_tree {
	char *mount; /* of the cgroup2 hierarchy; the tree's */
	int root;    /* held so that cgroups are found whatever becomes of the mount; -1: none */
};

#define SAMPLING_TREE_NONE ((struct sampling_tree){.root = -1})

/* Finds it. 0, or -errno with `failure` filled in: no cgroup2 file system, or one that tells nothing apart.
 * sampling_tree_done() frees what it holds, in each case. */
int sampling_tree_open(struct sampling_tree *ret, struct failure *failure);
void sampling_tree_done(struct sampling_tree *tree);

/* Slots to begin with, for the cgroups that are there, where the configuration leaves their number open. */
u32 sampling_tree_slots(const struct sampling_tree *tree, const struct config *config);

/* Gives slots to those that are there; what it could not look into the log tells. */
void sampling_tree_adopt(const struct sampling_tree *tree, struct engine *engine);

#endif
