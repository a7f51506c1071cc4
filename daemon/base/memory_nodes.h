// SPDX-License-Identifier: GPL-2.0
/* Which physical memory, and which CPUs, belong to which NUMA node. Reads files below a root alone. */
#ifndef PEBSD_MEMORY_NODES_H
#define PEBSD_MEMORY_NODES_H

#include <stddef.h>

#include "pebsd/types.h"

/* The physical memory of a node: bytes `start` to below `end`. */
struct node_range {
	u64 start, end;
	int node;
};

/*
 * The memory blocks of each node, from devices/system/node/nodeN/memoryM and devices/system/memory/
 * block_size_bytes below `sysfs_root` ("/sys"): by address, neighbours of one node joined. A block that two
 * nodes have in common is nobody's. A kernel without memory blocks (no CONFIG_MEMORY_HOTPLUG) gives none.
 * Returns 0 with an array that the caller frees (NULL for none), or -errno.
 */
int memory_nodes(const char *sysfs_root, struct node_range **ret, size_t *ret_n);

/* The node of each CPU by its number, -1 where none is known. As above. */
int memory_nodes_of_cpus(const char *sysfs_root, int **ret, size_t *ret_n);

#endif
