// SPDX-License-Identifier: GPL-2.0
/* The adoption of cgroups, with a tree of plain directories and a kernel side that only takes notes. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/adopt.h"
#include "tree.h"

static const struct kernel_settings settings = {.births = true};
static struct slot_counters counters;
static int root_fd;
static unsigned children;
static u64 first_child, marked_dead;

const struct kernel_settings *kernel_settings(const struct kernel *kernel)
{
	(void)kernel;
	return &settings;
}

struct slot_counters kernel_slot_counters(const struct kernel *kernel)
{
	(void)kernel;
	return counters;
}

/* The first child is removed before it gets its slot. The second child gets none. */
int kernel_adopt(struct kernel *kernel, u64 cgroup_id, u64 parent_id, const char *name)
{
	(void)kernel;
	if (parent_id == 0)
		return 1;
	if (children++ > 0)
		return -EBUSY;
	first_child = cgroup_id;
	cr_assert_eq(unlinkat(root_fd, name, AT_REMOVEDIR), 0);
	counters.deaths++;
	return 2;
}

int kernel_mark_dead(struct kernel *kernel, u64 cgroup_id)
{
	(void)kernel;
	marked_dead = cgroup_id;
	return 0;
}

Test(adopt, a_failed_walk_marks_the_slots_of_removed_cgroups_dead)
{
	_cleanup_(tree_removep) char *root = tree_new();
	struct adopt_counts counts;

	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(root_fd, 0);
	cr_assert_eq(mkdirat(root_fd, "a", 0700), 0);
	cr_assert_eq(mkdirat(root_fd, "b", 0700), 0);
	cr_expect_eq(adopt_tree(NULL, root_fd, NULL, NULL, &counts), -EBUSY);
	cr_expect_eq(counts.adopted, 2);
	cr_expect_eq(counts.vanished, 1);
	cr_expect_neq(first_child, 0);
	cr_expect_eq(marked_dead, first_child);
	cleanup_close(&root_fd);
}
