// SPDX-License-Identifier: GPL-2.0
#include "cgroup/xattr.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "cgroup/walk.h"

/* The cgroup may have been removed after its directory was opened. */
static int gone_or(int error)
{
	return error == ENODEV || error == ESTALE ? -ENOENT : -error;
}

static int read_value(int fd, const char *name, size_t max, char **ret)
{
	_cleanup_free_ char *value = malloc(max + 1);
	ssize_t length;

	if (!value)
		return -ENOMEM;
	/* The size includes the byte for the NUL: a value that fills this byte, too, is too long. */
	length = fgetxattr(fd, name, value, max + 1);
	if (length < 0 && errno == ENODATA) {
		*ret = NULL;
		return 0;
	}
	if (length < 0)
		return errno == ERANGE ? -E2BIG : gone_or(errno);
	if ((size_t)length > max)
		return -E2BIG;
	value[length] = '\0';
	*ret = TAKE_PTR(value);
	return 0;
}

int cgroup_xattr(int root_fd, const char *path, const char *name, size_t max, char **ret_value,
		 bool *ret_owner_is_root)
{
	_cleanup_close_ int path_fd = cgroup_walk_open(root_fd, path);
	_cleanup_close_ int fd = -1;
	struct stat root;
	struct stat st;
	int r;

	if (path_fd < 0)
		return path_fd;
	/* An O_PATH descriptor cannot read attributes. */
	fd = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return gone_or(errno);
	if (fstat(fd, &st) < 0 || fstat(root_fd, &root) < 0)
		return gone_or(errno);
	if (st.st_dev != root.st_dev)
		return -ENOENT; /* another file system is mounted there */
	r = read_value(fd, name, max, ret_value);
	if (r < 0)
		return r;
	*ret_owner_is_root = st.st_uid == 0;
	return 0;
}
