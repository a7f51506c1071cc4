// SPDX-License-Identifier: GPL-2.0
/* Any text as /proc/self/mountinfo: yields a path or none, and never a crash. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cgroup/mount.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_free_ char *path = NULL;
	bool subtree;
	int r;

	if (!size)
		return 0;
	file = fmemopen((void *)data, size, "r");
	if (!file)
		return 0;
	r = cgroup_mount_parse(file, &path, &subtree);
	if (r == 0 ? !path || path[0] != '/' : r != -ENOENT || path)
		abort();
	return 0;
}
