// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
			"separately; boot with systemd.unified_cgroup_hierarchy=1, or, if no v1 hierarchy is "
			"mounted either, mount it: mount -t cgroup2 none /sys/fs/cgroup");
	if (r < 0)
		return sampling_perf_cannot(
			failure, r, "cannot find the cgroup2 mount with /proc/self/mountinfo: %s",
			r == -ENODATA ? "there is no such file; mount /proc" : strerror(-r));
	(void)cgroup_mount_use(ret->mount, subtree, &use);
	if (use == CGROUP_USE_V1)
		return sampling_perf_cannot(
			failure, -ENOENT,
			"cannot tell cgroups apart: there is no cgroup below the root of %s, and v1 "
			"hierarchies are in use, so every sample would count for the root; boot with "
			"systemd.unified_cgroup_hierarchy=1, or move the processes into cgroups there",
			ret->mount);
	ret->root = open(ret->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->root < 0) {
		_cleanup_free_ char *where = NULL;

		r = -errno;
		if (asprintf(&where, "%s: %s", ret->mount, strerror(-r)) < 0)
			where = NULL;
		return sampling_perf_cannot(failure, r, "cannot open the cgroup2 tree at %s",
					    where ? where : ret->mount);
	}
	if (use == CGROUP_USE_NONE_YET)
		log_notice("there is no cgroup below the root of %s yet: all samples count for the root "
			   "until one is created there",
			   ret->mount);
	if (subtree)
		log_notice(
			"%s shows only a part of the cgroup tree: cgroups outside of it that are older than "
			"pebsd are unattributed; newer ones get their names when they are created",
			ret->mount);
	return 0;
}

u32 sampling_tree_slots(const struct sampling_tree *tree, const struct config *config)
{
	struct cgroup_walk_counts counts = {0};

	if (config->cgroups_max != CONFIG_CGROUPS_MAX_AUTO)
		return (u32)config->cgroups_max;
	(void)cgroup_walk(tree->root, NULL, NULL, &counts);
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
			0,
			"cannot read the whole cgroup tree at %s: %s; some or all cgroups older than pebsd are unattributed",
			tree->mount, strerror(-r));
	if (counts.unentered)
		(void)log_warning(
			0,
			"cgroups that pebsd cannot look into (too deep, or not permitted): %zu; cgroups below "
			"them that are older than pebsd are unattributed; if permission is missing, give pebsd "
			"CAP_DAC_READ_SEARCH",
			counts.unentered);
	engine_adopted(engine, counts.without_slot);
}
