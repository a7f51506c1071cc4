// SPDX-License-Identifier: GPL-2.0
/*
 * The tree of the cgroups of this machine: finds where it is, and gives slots to cgroups that are older than
 * pebsd.
 */
#ifndef PEBSD_SAMPLING_TREE_H
#define PEBSD_SAMPLING_TREE_H

#include "base/failure.h"
#include "config/config.h"
#include "engine/engine.h"

struct sampling_tree {
	char *mount; /* mount point of the cgroup2 hierarchy; owned */
	int root;    /* open, so that cgroups are found even if the mount goes away; -1: none */
};

#define SAMPLING_TREE_NONE ((struct sampling_tree){.root = -1})

/*
 * Finds the tree. Returns 0, or -errno with `failure` filled in, for example if there is no cgroup2 file
 * system or it cannot tell cgroups apart. In each case, sampling_tree_done() frees the contents of `*ret`.
 */
int sampling_tree_open(struct sampling_tree *ret, struct failure *failure);
void sampling_tree_done(struct sampling_tree *tree);

/*
 * Returns the number of slots to begin with: the configured one, or one that fits the number of existing
 * cgroups.
 */
u32 sampling_tree_slots(const struct sampling_tree *tree, const struct config *config);

/* Gives slots to the cgroups that exist. Logs a warning if a part of the tree cannot be read. */
void sampling_tree_adopt(const struct sampling_tree *tree, struct engine *engine);

#endif
