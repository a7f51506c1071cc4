// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "cgroup/memory_limit.h"
#include "tree.h"

#define MIB (1ULL << 20)

Test(cgroup_memory_limit, the_smallest_of_the_cgroup_and_those_above_it_counts)
{
	_cleanup_(tree_removep) char *root = tree_new();

	tree_write(root, "cgroup.procs", "");
	tree_write(root, "a/memory.max", "536870912\n");
	tree_write(root, "a/b/memory.max", "max\n");
	tree_write(root, "a/b/c/memory.max", "1073741824\n");
	tree_write(root, "d/memory.max", "max\n");
	tree_write(root, "e/memory.max", "x\n");
	cr_expect_eq(cgroup_memory_limit(root, "0::/a/b/c\n"), 512 * MIB);
	cr_expect_eq(cgroup_memory_limit(root, "12:name=systemd:/x\n4:memory:/d\n0::/a/b"), 512 * MIB);
	cr_expect_eq(cgroup_memory_limit(root, "0::/d\n"), CGROUP_MEMORY_UNLIMITED);
	cr_expect_eq(cgroup_memory_limit(root, "0::/e\n"), CGROUP_MEMORY_UNLIMITED);
	cr_expect_eq(cgroup_memory_limit(root, "0::/gone (deleted)\n"), CGROUP_MEMORY_UNLIMITED);
	cr_expect_eq(cgroup_memory_limit(root, "0::/\n"), CGROUP_MEMORY_UNLIMITED, "the root has no limit");
	cr_expect_eq(cgroup_memory_limit(root, "4:memory:/a\n"), CGROUP_MEMORY_UNLIMITED, "v1");
	cr_expect_eq(cgroup_memory_limit(root, ""), CGROUP_MEMORY_UNLIMITED);
}

/* In a container, the root of the cgroup mount is often the container's own cgroup. */
Test(cgroup_memory_limit, the_root_of_the_mount_may_be_the_cgroup)
{
	_cleanup_(tree_removep) char *root = tree_new();

	tree_write(root, "memory.max", "268435456\n");
	tree_write(root, "a/memory.max", "536870912\n");
	cr_expect_eq(cgroup_memory_limit(root, "0::/\n"), 256 * MIB);
	cr_expect_eq(cgroup_memory_limit(root, "0::/a\n"), 256 * MIB);
	cr_expect_eq(cgroup_memory_limit(root, "0::/../other\n"), 256 * MIB, "a cgroup outside of the mount");
}
