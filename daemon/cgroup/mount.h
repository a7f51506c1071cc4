// SPDX-License-Identifier: GPL-2.0
/* Finds the mount point of the default hierarchy: /sys/fs/cgroup, /sys/fs/cgroup/unified, or another directory. */
#ifndef PEBSD_CGROUP_MOUNT_H
#define PEBSD_CGROUP_MOUNT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Picks the best cgroup2 mount from text in the format of /proc/self/mountinfo (proc(5)). This is the first mount
 * among those that show the largest part of the tree. In a cgroup namespace the root field is relative to the
 * namespace: "/.." is a mount of what lies above the namespace's root, so it shows more than "/". `*ret_subtree`
 * is true if the root field names neither the namespace's root nor a cgroup above it. Invalid lines are skipped.
 * Returns 0, -ENOENT if no cgroup2 is mounted, or -errno if reading failed. The caller frees `*ret_path`.
 */
int cgroup_mount_parse(FILE *mountinfo, char **ret_path, bool *ret_subtree);

/*
 * Same as cgroup_mount_parse(), for this process: reads /proc/self/mountinfo. Returns -ENODATA if that file does
 * not exist, and -ENOENT also if another mount hides the cgroup2 mount. `*ret_subtree` is reliable here, even in a
 * cgroup namespace: it is true if the mounted directory is not the root of the hierarchy.
 */
int cgroup_mount_find(char **ret_path, bool *ret_subtree);

/* Returns 1 if a cgroup exists below the root of the mount at `path`, else 0, or -errno. */
int cgroup_mount_in_use(const char *path);

/* The use of the default hierarchy. */
enum cgroup_use {
	CGROUP_USE_CGROUPS,  /* the hierarchy has cgroups, or this process sees only a part of it */
	CGROUP_USE_NONE_YET, /* no cgroup exists yet: all samples belong to the root */
	CGROUP_USE_V1,       /* no cgroup exists, v1 hierarchies are used: all samples would be the root's */
};

/*
 * Decides how the default hierarchy is used. `below`: a cgroup exists below the root of the mount. `subtree`:
 * see cgroup_mount_find(). `self_cgroup`: the text of /proc/self/cgroup, which has a line for each hierarchy
 * in use, or NULL if it cannot be read. Pure: no system call.
 */
enum cgroup_use cgroup_use_of(bool below, bool subtree, const char *self_cgroup);

/*
 * Same as cgroup_use_of(), for the mount at `path` and this process. Returns 0, or -errno if the mount cannot
 * be read.
 */
int cgroup_mount_use(const char *path, bool subtree, enum cgroup_use *ret);

#endif
