// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cgroup/mount.h"
#include "cgroup/walk.h"
#include "collect/adopt.h"
#include "origin/perf/perf_cost.h"
#include "sampling/sampling_perf_open.h"

int sampling_tree_open(struct sampling_tree *ret, struct failure *failure)
{
	enum cgroup_use use = CGROUP_USE_CGROUPS;
	bool subtree;
	int r = cgroup_mount_find(&ret->mount, &subtree);

	if (r == -ENOENT)
		return sampling_perf_cannot(
			failure, r, "cannot tell cgroups apart: %s",
			"no cgroup2 file system is mounted, and each v1 hierarchy numbers its cgroups "
			"separately; mount it: mount -t cgroup2 none /sys/fs/cgroup/unified, or boot with "
			"systemd.unified_cgroup_hierarchy=1");
	if (r < 0)
		return sampling_perf_cannot(
			failure, r,
			"cannot read /proc/self/mountinfo to find the cgroup2 mount: %s; mount /proc",
			r == -ENODATA ? "it does not list the mount" : strerror(-r));
	(void)cgroup_mount_use(ret->mount, subtree, &use);
	if (use == CGROUP_USE_V1)
		return sampling_perf_cannot(
			failure, -ENOENT,
			"cannot tell cgroups apart: there is no cgroup below the root of %s, and v1 "
			"hierarchies are in use, so every sample would count for the root; boot with "
			"systemd.unified_cgroup_hierarchy=1, or move the processes into cgroups there",
			ret->mount);
	ret->root = open(ret->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->root < 0)
		return sampling_perf_cannot(failure, -errno, "cannot open the cgroup2 tree at %s",
					    ret->mount);
	if (use == CGROUP_USE_NONE_YET)
		log_notice("there is no cgroup below the root of %s yet: all samples count for the root "
			   "until one is created there",
			   ret->mount);
	if (subtree)
		log_notice("%s shows only a part of the cgroup tree: cgroups outside of that part get "
			   "their names when they are created, and cgroups older than pebsd are "
			   "unattributed",
			   ret->mount);
	return 0;
}

static int count_one(u64 id, u64 parent_id, const char *name, void *userdata)
{
	(void)id;
	(void)parent_id;
	(void)name;
	(void)userdata;
	return 0;
}

u32 sampling_tree_slots(const struct sampling_tree *tree, const struct config *config)
{
	struct cgroup_walk_counts counts = {0};

	if (config->cgroups_max != CONFIG_CGROUPS_MAX_AUTO)
		return (u32)config->cgroups_max;
	(void)cgroup_walk(tree->root, count_one, NULL, &counts);
	return perf_cost_slots(counts.cgroups);
}

void sampling_tree_done(struct sampling_tree *tree)
{
	free(tree->mount);
	cleanup_close(&tree->root);
	*tree = SAMPLING_TREE_NONE;
}

static int found_without_slot(const char *path, void *userdata)
{
	return engine_found_without_slot(userdata, path);
}

void sampling_tree_adopt(const struct sampling_tree *tree, struct engine *engine)
{
	struct adopt_counts counts = {0};
	int r;

	engine_adopting(engine);
	r = adopt_tree(engine_kernel(engine), tree->root, found_without_slot, engine, &counts);
	if (r < 0)
		(void)log_warning(
			r, "cannot read the cgroup tree at %s: cgroups older than pebsd are unattributed",
			tree->mount);
	if (counts.unentered)
		(void)log_warning(
			0,
			"cannot look into %zu cgroups (too deep, or not permitted): cgroups below them "
			"that are older than pebsd are unattributed; give pebsd CAP_DAC_READ_SEARCH",
			counts.unentered);
	engine_adopted(engine, counts.without_slot);
}
