// SPDX-License-Identifier: GPL-2.0
/* The NUMA nodes of CPUs. */
#ifndef PEBSD_CPU_NODES_H
#define PEBSD_CPU_NODES_H

#include "machine/cpu_list.h"

/*
 * Finds every node that contains a CPU of `cpus`, and returns all CPUs of these nodes. Reads
 * devices/system/node below `sysfs_root` ("/sys"). Returns 0 or -errno. -ENODATA: no such node is listed, as
 * in a kernel without NUMA.
 */
int cpu_nodes(const char *sysfs_root, const struct cpu_list *cpus, struct cpu_list *ret);

#endif
