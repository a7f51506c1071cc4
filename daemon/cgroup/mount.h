// SPDX-License-Identifier: GPL-2.0
/* Where the default hierarchy is mounted: /sys/fs/cgroup, /sys/fs/cgroup/unified, or wherever it is. */
#ifndef PEBSD_CGROUP_MOUNT_H
#define PEBSD_CGROUP_MOUNT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Picks the best cgroup2 mount out of text in the format of /proc/self/mountinfo (proc(5)): the one that
 * shows most of the tree, of equals the first. In a cgroup namespace the root field is relative to the
 * namespace:
 * "/.." is a mount of what lies above it, so it shows more than "/". `*ret_subtree`: the mount's root field
 * names a cgroup below the namespace's root. A line that is not as it should be is passed over. Returns 0,
 * -ENOENT where no cgroup2 is mounted, or -errno of reading. `*ret_path` is the caller's to free.
 */
int cgroup_mount_parse(FILE *mountinfo, char **ret_path, bool *ret_subtree);

/*
 * The same for this process, from /proc/self/mountinfo; -ENODATA where that is not there, -ENOENT also where
 * another mount lies over it.
 * `*ret_subtree` is certain here: the mounted directory is not the hierarchy's root, whatever a namespace
 * says.
 */
int cgroup_mount_find(char **ret_path, bool *ret_subtree);

/* Whether a cgroup exists below the root of the mount at `path`: 1 or 0, or -errno. */
int cgroup_mount_in_use(const char *path);

/* What the default hierarchy is used for. */
enum cgroup_use {
	CGROUP_USE_CGROUPS,  /* it has cgroups, or this process sees a part of it only */
	CGROUP_USE_NONE_YET, /* nobody has made a cgroup: all samples are the root's until somebody does */
	CGROUP_USE_V1,       /* nobody has, and v1 hierarchies are in use: all samples would be the root's */
};

/*
 * Tells them apart. `below`: a cgroup is below the root of the mount; `subtree`: as cgroup_mount_find() has
 * it; `self_cgroup`: the text of /proc/self/cgroup, which has a line for each hierarchy in use, NULL where it
 * cannot be read. Pure.
 */
enum cgroup_use cgroup_use_of(bool below, bool subtree, const char *self_cgroup);

/* The same for the mount at `path` and this process: 0, or -errno where the mount cannot be read. */
int cgroup_mount_use(const char *path, bool subtree, enum cgroup_use *ret);

#endif
