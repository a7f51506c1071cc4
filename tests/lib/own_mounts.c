// SPDX-License-Identifier: GPL-2.0
#include "own_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * How mounts are shared can only be set from a mount's root, which that of a chroot need not be. Entering a
 * namespace, also one's own, leads to its root (fs/namespace.c mntns_install(), Linux 6.1).
 */
static int make_private(void)
{
	_cleanup_close_ int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return errno;
	return 0;
}

int own_mounts(void)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWNS) < 0)
		return -errno;
	/* A child does it: the root of this process stays the one it has. */
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(make_private());
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}
