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
 * Mount propagation can be changed only at the root of a mount, and the root of a chroot need not be one.
 * Entering a mount namespace, even one's own, leads to its root (fs/namespace.c mntns_install(), Linux 6.1).
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
	/* Entering the namespace changes the root, so a child enters it. */
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(make_private());
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}
