// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine/memory_nodes.h"
#include "tree.h"

static void expect_range(const struct node_range *range, u64 start, u64 end, int node)
{
	cr_expect(range->start == start && range->end == end && range->node == node,
		  "%#llx to %#llx of node %d", (unsigned long long)range->start,
		  (unsigned long long)range->end, range->node);
}

Test(memory_nodes, adjacent_blocks_are_joined_and_shared_ones_left_out)
{
	_cleanup_(tree_removep) char *root = tree_new();
	_cleanup_free_ struct node_range *ranges = NULL;
	_cleanup_free_ int *nodes = NULL;
	size_t n;

	tree_write(root, "devices/system/memory/block_size_bytes", "8000000\n");
	tree_write(root, "devices/system/node/node0/memory0/state", "online\n");
	tree_write(root, "devices/system/node/node0/memory1/state", "online\n");
	tree_write(root, "devices/system/node/node0/memory32/state", "online\n");
	tree_write(root, "devices/system/node/node0/memory33/state", "online\n");
	tree_write(root, "devices/system/node/node1/memory33/state", "online\n");
	tree_write(root, "devices/system/node/node1/memory34/state", "online\n");
	tree_write(root, "devices/system/node/node1/memory_side_cache/index1", "0\n");
	tree_write(root, "devices/system/node/node0/cpulist", "0-1,4\n");
	tree_write(root, "devices/system/node/node1/cpulist", "2\n");
	tree_write(root, "devices/system/node/node2/cpulist", "\n");

	cr_assert_eq(memory_nodes(root, &ranges, &n), 0);
	cr_assert_eq(n, 3);
	expect_range(&ranges[0], 0, 0x10000000, 0);
	expect_range(&ranges[1], 0x100000000, 0x108000000, 0);
	expect_range(&ranges[2], 0x110000000, 0x118000000, 1);

	cr_assert_eq(memory_nodes_of_cpus(root, &nodes, &n), 0);
	cr_assert_eq(n, 5);
	cr_expect(nodes[0] == 0 && nodes[1] == 0 && nodes[2] == 1 && nodes[3] == -1 && nodes[4] == 0);
}

Test(memory_nodes, without_memory_blocks_there_are_no_ranges)
{
	_cleanup_(tree_removep) char *root = tree_new();
	struct node_range *ranges = (struct node_range *)root;
	int *nodes = (int *)(void *)root;
	size_t n = 7;

	cr_assert_eq(memory_nodes(root, &ranges, &n), 0);
	cr_expect(n == 0 && !ranges);
	n = 7;
	cr_assert_eq(memory_nodes_of_cpus(root, &nodes, &n), 0);
	cr_expect(n == 0 && !nodes);
}

Test(memory_nodes, an_invalid_block_size_is_an_error)
{
	_cleanup_(tree_removep) char *root = tree_new();
	struct node_range *ranges;
	size_t n;

	tree_write(root, "devices/system/memory/block_size_bytes", "0\n");
	cr_expect_lt(memory_nodes(root, &ranges, &n), 0);
	tree_write(root, "devices/system/memory/block_size_bytes", "8 MiB\n");
	cr_expect_lt(memory_nodes(root, &ranges, &n), 0);
}
