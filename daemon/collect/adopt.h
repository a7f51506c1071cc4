// SPDX-License-Identifier: GPL-2.0
/*
 * Adoption: gives slots to cgroups that already exist. They are older than the tracepoints, or were born when
 * no slot was free.
 */
#ifndef PEBSD_ADOPT_H
#define PEBSD_ADOPT_H

#include <stddef.h>

#include "collect/no_slot.h"
#include "kernel/kernel.h"

struct adopt_counts {
	size_t adopted;      /* have a slot now, including those that had one before */
	size_t without_slot; /* found no free slot: their samples are `unattributed` */
	size_t vanished;     /* removed during the walk */
	size_t unentered;    /* their children are unknown: too deep, or no permission */
};

/*
 * Walks the cgroup2 tree mounted at `mount` and adopts each cgroup. Attach the tracepoints first: then a
 * cgroup that is born during the walk has a slot either way, and one that is removed during the walk is
 * checked again and buried. Returns 0, or -errno if the tree cannot be read.
 */
int adopt_existing(struct kernel *kernel, const char *mount, struct adopt_counts *ret);

/*
 * The same for the tree whose root is open. Adds the paths of cgroups that found no free slot to `no_slot`,
 * which must be empty and may be NULL.
 */
int adopt_tree(struct kernel *kernel, int root_fd, struct no_slot *no_slot, struct adopt_counts *ret);

#endif
