// SPDX-License-Identifier: GPL-2.0
#include "cgroup/memory_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/text_file.h"
#include "cgroup/mount.h"

/*
 * Returns the path in the line of the default hierarchy, "0::/a/b". Returns NULL if there is no such line, or if
 * memory ran out.
 */
static char *own_path(const char *self_cgroup)
{
	static const char start[] = "0::/";

	for (const char *line = self_cgroup; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, start, strlen(start)) == 0)
			return strndup(line + strlen("0::"), strcspn(line + strlen("0::"), "\n"));
	}
	return NULL;
}

/* The file has a number of bytes, or "max". */
static u64 read_limit(const char *mount, const char *cgroup)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	char *end;
	u64 limit;

	if (asprintf(&path, "%s%s/memory.max", mount, cgroup) < 0) {
		path = NULL;
		return CGROUP_MEMORY_UNLIMITED;
	}
	if (text_file_read(path, &text) < 0)
		return CGROUP_MEMORY_UNLIMITED;
	limit = strtoull(text, &end, 10);
	return end == text || *end ? CGROUP_MEMORY_UNLIMITED : limit;
}

u64 cgroup_memory_limit(const char *mount, const char *self_cgroup)
{
	_cleanup_free_ char *cgroup = own_path(self_cgroup);
	u64 limit = CGROUP_MEMORY_UNLIMITED;
	char *end;

	if (!cgroup)
		return limit;
	/* The root of the mount has memory.max only if the mount shows a part of the tree. */
	while ((end = strrchr(cgroup, '/'))) {
		limit = MIN(limit, read_limit(mount, cgroup));
		*end = '\0';
	}
	return MIN(limit, read_limit(mount, ""));
}

u64 cgroup_own_memory_limit(void)
{
	_cleanup_free_ char *mount = NULL, *self_cgroup = NULL;
	bool subtree;

	if (cgroup_mount_find(&mount, &subtree) < 0 || text_file_read("/proc/self/cgroup", &self_cgroup) < 0)
		return CGROUP_MEMORY_UNLIMITED;
	return cgroup_memory_limit(mount, self_cgroup);
}
