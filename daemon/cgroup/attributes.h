// SPDX-License-Identifier: GPL-2.0
/* Extended attributes of a cgroup's directory. */
#ifndef PEBSD_CGROUP_ATTRIBUTES_H
#define PEBSD_CGROUP_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the attribute `name` of the directory at `path` ("/a/b") below `root_fd`, no symbolic link followed,
 * and whether the directory is owned by root. Returns 0 with *ret_value malloc'ed, NULL where it is not set;
 * -ENOENT where there is no such cgroup; -E2BIG where it is longer than `max` bytes; -EINVAL for a path that
 * is none; else -errno (-EOPNOTSUPP: no such attributes on this kernel, before 5.7).
 */
int cgroup_attribute(int root_fd, const char *path, const char *name, size_t max, char **ret_value,
		     bool *ret_owner_is_root);

#endif
