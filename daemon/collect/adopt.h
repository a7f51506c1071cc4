// SPDX-License-Identifier: GPL-2.0
/*
 * Adoption: gives slots to cgroups that already exist. They are older than the tracepoints, or were born when
 * no slot was free.
 */
#ifndef PEBSD_ADOPT_H
#define PEBSD_ADOPT_H

#include <stddef.h>

#include "kernel/kernel.h"

struct adopt_counts {
	size_t adopted;      /* have a slot now, including those that had one before */
	size_t without_slot; /* found no free slot: their samples are `unattributed` */
	size_t vanished;     /* removed during the walk */
	size_t unentered;    /* not all of their children are known: too deep, no permission, or a failure */
};

/* Called with the path of each cgroup that found no free slot. Returns 0, or -errno, which ends the walk. */
typedef int (*adopt_missing)(const char *path, void *userdata);

/*
 * Walks the cgroup2 tree with the open root directory `root_fd` and adopts each cgroup. Attach the tracepoints first:
 * then a cgroup that is born during the walk gets a slot from the tracepoint or from the walk. If cgroups may have been
 * removed during the walk, looks for each adopted cgroup again, and marks the slots of missing ones dead, also after a
 * failure. `missing` may be NULL. Returns 0, or -errno if the tree cannot be read, a slot cannot be given for another
 * reason than -ENOSPC, or `missing` failed.
 */
int adopt_tree(struct kernel *kernel, int root_fd, adopt_missing missing, void *userdata,
	       struct adopt_counts *ret);

#endif
