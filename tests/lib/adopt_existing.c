// SPDX-License-Identifier: GPL-2.0
#include "adopt_existing.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"

int adopt_existing(struct kernel *kernel, const char *mount, struct adopt_counts *ret)
{
	_cleanup_close_ int root_fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return root_fd < 0 ? -errno : adopt_tree(kernel, root_fd, NULL, NULL, ret);
}
