// SPDX-License-Identifier: GPL-2.0
/* The CPUs that a cgroup's tasks may run on. */
#ifndef PEBSD_CGROUP_CPUSET_H
#define PEBSD_CGROUP_CPUSET_H

#include "machine/cpu_list.h"

/*
 * Reads cpuset.cpus.effective of the cgroup at `path` ("/a/b" below `root_fd`, the cgroup2 mount). If the file is
 * missing or names no CPU, reads that of the nearest ancestor that has one. This happens when the cgroup was
 * removed or when its parent does not enable the cpuset controller; the CPUs of the ancestor then apply. Returns
 * 0, -ENODATA if no ancestor has the file (the controller is in a v1 hierarchy), or -errno.
 */
int cgroup_cpuset(int root_fd, const char *path, struct cpu_list *ret);

#endif
