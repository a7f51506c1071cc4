// SPDX-License-Identifier: GPL-2.0
/* Gives slots to the cgroups that exist, for tests and benchmarks that open no tree of cgroups. */
#ifndef PEBSD_TESTS_ADOPT_EXISTING_H
#define PEBSD_TESTS_ADOPT_EXISTING_H

#include "collect/adopt.h"

/* Same as adopt_tree(), for the tree that is mounted at `mount`. Returns -errno, too, if it cannot be opened. */
int adopt_existing(struct kernel *kernel, const char *mount, struct adopt_counts *ret);

#endif
