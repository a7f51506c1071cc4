// SPDX-License-Identifier: GPL-2.0
/* Giving slots to the cgroups that exist already: those older than the tracepoints, or born when no slot was
 * free. */
#ifndef PEBSD_ADOPT_H
#define PEBSD_ADOPT_H

#include <stddef.h>

#include "collect/no_slot.h"
#include "kernel/kernel.h"

struct adopt_counts {
	size_t adopted;      /* have a slot now, whether they had one before or not */
	size_t without_slot; /* found no free slot: their samples are `unattributed` */
	size_t vanished;     /* removed while they were looked at */
	size_t unentered;    /* their children are not known: too deep, or not permitted */
};

/*
 * Walks the cgroup2 tree mounted at `mount` and adopts what it meets. The tracepoints are attached before: a
 * cgroup born meanwhile has a slot either way, and one removed meanwhile is looked at again and buried.
 * Returns 0 or -errno where the tree can't be read.
 */
int adopt_existing(struct kernel *kernel, const char *mount, struct adopt_counts *ret);

/* The same of the tree whose root is open. Adds to `no_slot`, empty until then, the paths of those that found none;
 * it may be NULL. */
int adopt_tree(struct kernel *kernel, int root_fd, struct no_slot *no_slot, struct adopt_counts *ret);

#endif
