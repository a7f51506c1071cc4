// SPDX-License-Identifier: GPL-2.0
/* The cgroups that exist: a walk of the mounted tree. */
#ifndef PEBSD_CGROUP_WALK_H
#define PEBSD_CGROUP_WALK_H

#include <stddef.h>

#include "pebsd/types.h"

/*
 * Levels below the root that are entered, with one descriptor each: whoever may create cgroups decides how
 * deep they lie, and must not be able to use up the daemon's descriptors.
 */
#define CGROUP_WALK_DEPTH_MAX 256

/* What a walk met. */
struct cgroup_walk_counts {
	size_t cgroups;   /* called back for, the root among them */
	size_t vanished;  /* removed while they were looked at */
	size_t unentered; /* called back for, but what lies below is not known: too deep, or not permitted */
};

/*
 * One cgroup. `id`: its id in the default hierarchy, which is the directory's inode number
 * (fs/kernfs/inode.c, kernfs_ino() of the 64-bit id, since Linux 5.5 on 64-bit machines). `name`: one path
 * component, valid during the call. The root has parent 0 and the name "". A negative errno ends the walk.
 */
typedef int (*cgroup_walk_callback)(u64 id, u64 parent_id, const char *name, void *userdata);

/*
 * Calls back for the directory `root_fd` and all below, parents before children, without following symbolic
 * links or entering other file systems. What is born or dies meanwhile may be met or not. Returns 0, the
 * callback's error, or -errno where the root itself can't be read. `root_fd` stays the caller's.
 * `*ret_counts` is filled in every case.
 */
int cgroup_walk(int root_fd, cgroup_walk_callback callback, void *userdata,
		struct cgroup_walk_counts *ret_counts);

/*
 * Opens the directory at `path` ("/a/b" below the root; any length) with O_PATH, no symbolic link followed.
 * Returns the descriptor, which is the caller's; -ENOENT where there is none, -EINVAL for what is no such
 * path, or another -errno.
 */
int cgroup_walk_open(int root_fd, const char *path);

/*
 * Whether the cgroup at `path` ("/a/b" below the root; any length) still exists and has this id. Returns 1 or
 * 0, -EINVAL for what is no such path, or -errno where it could not be found out.
 */
int cgroup_walk_exists(int root_fd, const char *path, u64 id);

#endif
