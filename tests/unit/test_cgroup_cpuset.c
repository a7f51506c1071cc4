// SPDX-License-Identifier: GPL-2.0
/* The CPUs that a cgroup may use, and their nodes, read from trees as the kernel makes them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "cgroup/cpuset.h"
#include "machine/cpu_nodes.h"
#include "tree.h"

static char *root;

static void setup(void)
{
	root = tree_new();
}

static void teardown(void)
{
	tree_remove(root);
}

TestSuite(cgroup_cpuset, .init = setup, .fini = teardown);

static void expect_cpus(const char *path, int result, const char *expected)
{
	_cleanup_close_ int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct cpu_list cpus = {0};

	cr_assert_geq(fd, 0);
	cr_expect_eq(cgroup_cpuset(fd, path, &cpus), result, "%s", path);
	text = cpu_list_format(&cpus);
	cr_expect_str_eq(text, expected, "%s: %s", path, text);
}

Test(cgroup_cpuset, the_cpuset_is_the_cgroups_or_that_of_the_nearest_ancestor)
{
	tree_write(root, "cpuset.cpus.effective", "0-7\n");
	tree_write(root, "a/cpuset.cpus.effective", "0-3,6\n");
	tree_write(root, "a/b/c/cpuset.cpus.effective", "2\n");
	tree_write(root, "a/empty/cpuset.cpus.effective", "\n");
	expect_cpus("/", 0, "0-7");
	expect_cpus("/a", 0, "0-3,6");
	expect_cpus("/a/b", 0, "0-3,6");
	expect_cpus("/a/b/c", 0, "2");
	expect_cpus("/a/b/c/gone/long", 0, "2");
	expect_cpus("/a/empty", 0, "0-3,6");
	expect_cpus("/other", 0, "0-7");
	expect_cpus("cgroup:17/c", 0, "0-7");
	expect_cpus("/cpuset.cpus.effective/x", 0, "0-7");
}

Test(cgroup_cpuset, a_path_that_is_too_long_is_refused)
{
	char path[8192];

	tree_write(root, "cpuset.cpus.effective", "0-7\n");
	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i % 100 ? 'x' : '/';
	path[sizeof(path) - 1] = '\0';
	expect_cpus(path, 0, "0-7");
}

Test(cgroup_cpuset, without_any_cpuset_file_there_is_no_data)
{
	tree_write(root, "a/cgroup.procs", "");
	expect_cpus("/a", -ENODATA, "");
	expect_cpus("/", -ENODATA, "");
}

Test(cgroup_cpuset, an_invalid_list_is_refused)
{
	tree_write(root, "a/cpuset.cpus.effective", "all\n");
	expect_cpus("/a", -EINVAL, "");
}

static void expect_nodes(const char *cpus, int result, const char *expected)
{
	struct cpu_list list, nodes = {0};
	_cleanup_free_ char *text = NULL;

	cr_assert_eq(cpu_list_parse(cpus, &list), 0);
	cr_expect_eq(cpu_nodes(root, &list, &nodes), result, "%s", cpus);
	text = cpu_list_format(&nodes);
	cr_expect_str_eq(text, expected, "%s: %s", cpus, text);
}

Test(cgroup_cpuset, cpus_are_mapped_to_their_memory_nodes)
{
	expect_nodes("0", -ENODATA, "");
	tree_write(root, "devices/system/node/node0/cpulist", "0-3,8-11\n");
	tree_write(root, "devices/system/node/node1/cpulist", "4-7\n");
	tree_write(root, "devices/system/node/node12/cpulist", "\n"); /* memory without CPUs, as for CXL */
	tree_write(root, "devices/system/node/node13/cpulist", "12\n");
	tree_write(root, "devices/system/node/nodes/cpulist", "0-63\n");
	tree_write(root, "devices/system/node/online", "0-1,12-13\n");
	expect_nodes("9", 0, "0-3,8-11");
	expect_nodes("3-4", 0, "0-11");
	expect_nodes("7,12", 0, "4-7,12");
	expect_nodes("13", -ENODATA, "");
	expect_nodes("", -ENODATA, "");
	tree_write(root, "devices/system/node/node1/cpulist", "four\n");
	expect_nodes("0", -EINVAL, "");
}
