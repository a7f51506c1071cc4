// SPDX-License-Identifier: GPL-2.0
/* The CPUs that a cgroup's tasks may run on. */
#ifndef PEBSD_CGROUP_CPUS_H
#define PEBSD_CGROUP_CPUS_H

#include "base/cpu_list.h"

/*
 * cpuset.cpus.effective of the cgroup at `path` ("/a/b" below `root_fd`, the cgroup2 mount), or of the
 * nearest one above it that has the file and names a CPU in it: one that was removed, or whose parent does
 * not hand the cpuset controller on, may run where that one may. Returns 0, -ENODATA where none has (the
 * controller is in a v1 hierarchy), or -errno.
 */
int cgroup_cpus(int root_fd, const char *path, struct cpu_list *ret);

#endif
