// SPDX-License-Identifier: GPL-2.0
/* Finds the NUMA nodes of physical memory and of CPUs. Reads only files below a given root. */
#ifndef PEBSD_MEMORY_NODES_H
#define PEBSD_MEMORY_NODES_H

#include <stddef.h>

#include "pebsd/types.h"

/* The physical memory of a node: the bytes from `start` up to, but not including, `end`. */
struct node_range {
	u64 start, end;
	int node;
};

/*
 * Lists the memory blocks of each node, from devices/system/node/nodeN/memoryM and
 * devices/system/memory/block_size_bytes below `sysfs_root` ("/sys"). Ranges are sorted by address, and
 * adjacent ranges of one node are merged. A block that two nodes share belongs to neither. A kernel without
 * memory blocks (no CONFIG_MEMORY_HOTPLUG) yields no range. Returns 0 and an array that the caller frees
 * (NULL for none), or -errno.
 */
int memory_nodes(const char *sysfs_root, struct node_range **ret, size_t *ret_n);

/*
 * Returns an array of nodes, indexed by CPU number, with -1 for a CPU without a known node. Errors and
 * ownership are as for memory_nodes().
 */
int memory_nodes_of_cpus(const char *sysfs_root, int **ret, size_t *ret_n);

#endif
