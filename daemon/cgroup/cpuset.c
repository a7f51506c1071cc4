// SPDX-License-Identifier: GPL-2.0
#include "cgroup/cpuset.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"

#define FILE_NAME "cpuset.cpus.effective"

/* Returns -ENODATA if the file does not exist or is empty. */
static int read_cpus(int root_fd, const char *cgroup, struct cpu_list *ret)
{
	_cleanup_free_ char *path = NULL, *line = NULL;
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_close_ int fd = -1;
	size_t room = 0;
	int r;

	if (asprintf(&path, "./%s/" FILE_NAME, cgroup) < 0)
		return -ENOMEM;
	fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? -ENODATA : -errno;
	file = fdopen(fd, "r");
	if (!file)
		return -errno;
	TAKE_FD(fd);
	errno = 0;
	if (getline(&line, &room, file) < 0)
		/* The file is empty, or the cgroup was removed between opening and reading. */
		return errno == 0 || errno == ENODEV ? -ENODATA : -errno;
	r = cpu_list_parse(line, ret);
	if (r < 0)
		return r;
	return cpu_list_count(ret) > 0 ? 0 : -ENODATA;
}

int cgroup_cpuset(int root_fd, const char *path, struct cpu_list *ret)
{
	/* A path that does not begin with "/" has no known parent: use the CPUs of the root. */
	_cleanup_free_ char *cgroup = strdup(path[0] == '/' ? path : "");
	char *end;
	int r;

	if (!cgroup)
		return -ENOMEM;
	while ((r = read_cpus(root_fd, cgroup, ret)) == -ENODATA && (end = strrchr(cgroup, '/')))
		*end = '\0';
	return r;
}
