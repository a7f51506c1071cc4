// SPDX-License-Identifier: GPL-2.0
/* Extended attributes of a cgroup's directory. */
#ifndef PEBSD_CGROUP_XATTR_H
#define PEBSD_CGROUP_XATTR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the extended attribute `name` of the directory at `path` ("/a/b") below `root_fd`, and whether root owns
 * the directory. Follows no symbolic link. Returns 0, and `*ret_value` is malloc'ed, or NULL if the attribute is
 * not set. Errors: -ENOENT if there is no such cgroup, -E2BIG if the value is longer than `max` bytes, -EINVAL for
 * an invalid path, else -errno (-EOPNOTSUPP: before Linux 5.7, cgroups have no user.* attributes).
 */
int cgroup_xattr(int root_fd, const char *path, const char *name, size_t max, char **ret_value,
		 bool *ret_owner_is_root);

#endif
