// SPDX-License-Identifier: GPL-2.0
/* The memory limit of this process's cgroup. */
#ifndef PEBSD_CGROUP_MEMORY_LIMIT_H
#define PEBSD_CGROUP_MEMORY_LIMIT_H

#include <stdint.h>

#include "pebsd/types.h"

#define CGROUP_MEMORY_UNLIMITED UINT64_MAX

/*
 * Returns the smallest memory.max, in bytes, of a cgroup and its ancestors, as far as the cgroup2 mount at `mount`
 * shows them. `self_cgroup` is the text of /proc/self/cgroup. CGROUP_MEMORY_UNLIMITED: no limit is set or can be
 * read, for example because the controller is in a v1 hierarchy, or because a container sees its own cgroup as "/"
 * while the mount shows the whole tree.
 */
u64 cgroup_memory_limit(const char *mount, const char *self_cgroup);

/* Same as cgroup_memory_limit(), for this process. */
u64 cgroup_own_memory_limit(void);

#endif
