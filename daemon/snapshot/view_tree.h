// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroups of a view in the order of the tree, and the rows of the view that each of them is part of. Pure.
 *
 * A row is a path with the cgroups at and below it. In this order the cgroups of a row follow each other, so one
 * pass over all cgroups makes all rows: it opens a row at its first cgroup, and closes it after its last one.
 */
#ifndef PEBSD_VIEW_TREE_H
#define PEBSD_VIEW_TREE_H

#include "snapshot/snapshot_view.h"

/* Rows that are open at the same time: the root, and one for each name below it. */
#define VIEW_LEVELS_MAX (VIEW_DEPTH_MAX + 1)

/* A cgroup, and how many of the rows that contain the cgroup before it also contain this one. */
struct view_leaf {
	const struct snapshot_cgroup *cgroup;
	u32 length; /* of its path */
	u32 kept;
};

struct view_tree {
	const struct view_request *request;
	struct view_leaf *leaves;
	size_t n;
	size_t subtree_length; /* of the path that is displayed as the request's `subtree` */
	size_t rows;
	size_t path_bytes; /* of the rows whose path is not the path of a cgroup, with a NUL each */
	size_t merged;     /* rows that are the sum of several cgroups or rows */
	size_t levels;     /* maximum number of rows that are open at the same time */
};

/* Returns 0 or -ENOMEM. Free with view_tree_done(), also after an error. `request` must outlive the tree. */
int view_tree_init(struct view_tree *tree, const struct snapshot *snapshot,
		   const struct view_request *request);
void view_tree_done(struct view_tree *tree);

/*
 * Gets the length of the path of the next row that contains this cgroup. The `open` rows above it are open already,
 * and the path of the last of these has the length `at`. Returns false if no further row contains the cgroup.
 */
bool view_tree_next(const struct view_tree *tree, const struct view_leaf *leaf, size_t open, size_t at,
		    size_t *ret);

/*
 * Returns true if `path` is displayed as `subtree`, or lies below it. `ret_length` gets the number of bytes
 * of `path` that are displayed as `subtree`.
 */
bool view_tree_holds(const char *path, const char *subtree, size_t *ret_length);

#endif
