// SPDX-License-Identifier: GPL-2.0
/* Walks over the cgroups that exist, in the mounted tree. */
#ifndef PEBSD_CGROUP_WALK_H
#define PEBSD_CGROUP_WALK_H

#include <stddef.h>

#include "pebsd/types.h"

/*
 * Limit for the levels below the root that the walk enters. Each level needs a descriptor. A user who may
 * create cgroups decides how deep they are, and must not be able to use up the daemon's descriptors.
 */
#define CGROUP_WALK_DEPTH_MAX 256

struct cgroup_walk_counts {
	size_t cgroups;   /* found, including the root */
	size_t vanished;  /* removed during the walk */
	size_t unentered; /* found, but not entered (too deep, not permitted) or not fully read */
};

/*
 * Reports one cgroup. `id` is its id in the default hierarchy, which is the directory's inode number
 * (fs/kernfs/inode.c, kernfs_ino() of the 64-bit id, since Linux 5.5 on 64-bit machines). `name` is one path
 * component, valid during the call. The root has parent 0 and the name "". A negative errno as result ends
 * the walk.
 */
typedef int (*cgroup_walk_callback)(u64 id, u64 parent_id, const char *name, void *userdata);

/*
 * Calls back for the directory `root_fd` and all directories below, parents before children. With `callback` NULL, it
 * only counts them. It follows no symbolic links and enters no other file systems. Cgroups that are created or removed
 * meanwhile may be found or not. Returns 0, the callback's error, or -errno if the root itself cannot be opened. A
 * directory whose listing fails, even the root, only counts in `unentered`. The caller keeps `root_fd`. `*ret_counts`
 * is always filled in.
 */
int cgroup_walk(int root_fd, cgroup_walk_callback callback, void *userdata,
		struct cgroup_walk_counts *ret_counts);

/*
 * Opens the directory at `path` ("/a/b" below the root, of any length) with O_PATH, following no symbolic
 * link. Returns the descriptor, which the caller owns, -ENOENT if the directory does not exist, -EINVAL for
 * an invalid path, or another -errno.
 */
int cgroup_walk_open(int root_fd, const char *path);

/*
 * Returns 1 if the cgroup at `path` ("/a/b" below the root, of any length) still exists and has this id, else
 * 0. Returns -EINVAL for an invalid path, or -errno if it could not find out.
 */
int cgroup_walk_exists(int root_fd, const char *path, u64 id);

#endif
