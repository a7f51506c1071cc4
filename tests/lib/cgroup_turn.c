// SPDX-License-Identifier: GPL-2.0
#include "cgroup_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define LOCK "/tmp/pebsd-test-cgroups.lock"

int cgroup_turn(void)
{
	int fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

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
