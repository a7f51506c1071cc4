// SPDX-License-Identifier: GPL-2.0
/* The memory nodes that CPUs belong to. */
#ifndef PEBSD_CPU_NODES_H
#define PEBSD_CPU_NODES_H

#include "base/cpu_list.h"

/*
 * All CPUs of the nodes of which `cpus` has one, from devices/system/node below `sysfs_root` ("/sys").
 * Returns 0, -ENODATA where no node with one of them is listed (a kernel without NUMA), or -errno.
 */
int cpu_nodes(const char *sysfs_root, const struct cpu_list *cpus, struct cpu_list *ret);

#endif
