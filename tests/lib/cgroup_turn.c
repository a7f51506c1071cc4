// SPDX-License-Identifier: GPL-2.0
#include "cgroup_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

int cgroup_turn(const char *mount)
{
	int fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			int r = -errno;

			(void)close(fd);
			return r;
		}
	return 0; /* the process keeps the descriptor, and with it the lock */
}
