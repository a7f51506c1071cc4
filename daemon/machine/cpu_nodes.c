// SPDX-License-Identifier: GPL-2.0
#include "machine/cpu_nodes.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/directory.h"

static bool is_node(const char *name)
{
	return strncmp(name, "node", 4) == 0 && isdigit((unsigned char)name[4]);
}

static bool have_one_in_common(const struct cpu_list *one, const struct cpu_list *other)
{
	struct cpu_list both = *one;

	cpu_list_keep(&both, other);
	return cpu_list_count(&both) > 0;
}

int cpu_nodes(const char *sysfs_root, const struct cpu_list *cpus, struct cpu_list *ret)
{
	_cleanup_free_ char *folder = NULL;
	_cleanup_closedir_ DIR *directory = NULL;
	struct cpu_list all = {0};
	const struct dirent *entry;

	if (asprintf(&folder, "%s/devices/system/node", sysfs_root) < 0)
		return -ENOMEM;
	directory = opendir(folder);
	if (!directory)
		return errno == ENOENT ? -ENODATA : -errno;
	while ((entry = readdir(directory))) {
		_cleanup_free_ char *path = NULL;
		struct cpu_list node;
		int r;

		if (!is_node(entry->d_name))
			continue;
		if (asprintf(&path, "%s/%s/cpulist", folder, entry->d_name) < 0)
			return -ENOMEM;
		r = cpu_list_read(path, &node);
		if (r < 0)
			return r;
		if (have_one_in_common(&node, cpus))
			cpu_list_add_all(&all, &node);
	}
	if (cpu_list_count(&all) == 0)
		return -ENODATA;
	*ret = all;
	return 0;
}
