// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver_open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#define PLACE_MAX 128

int open_root(const char *proc, u32 pid)
{
	char place[PLACE_MAX];
	int fd;

	(void)snprintf(place, sizeof(place), "%s/%u/root", proc, pid);
	fd = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Opens the file of an O_PATH descriptor for reading. */
static int open_regular(int path, u64 max, struct stat *ret)
{
	char place[PLACE_MAX];
	int fd;

	if (fstat(path, ret) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return -EINVAL;
	if (ret->st_size < 0 || (u64)ret->st_size > max)
		return -EFBIG;
	(void)snprintf(place, sizeof(place), "/proc/self/fd/%d", path);
	fd = open(place, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int open_below(int root, const char *path, bool follow, u64 max, struct stat *ret)
{
	const struct open_how how = {
		.flags = (u64)(O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW)),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd < 0)
		return -errno;
	return open_regular(fd, max, ret);
}

/*
 * Returns whether the mapped file is still the expected one. The process may have mapped another file after
 * its mappings were read. For overlayfs before Linux 6.8, maps and the file have different inodes, but the
 * same name.
 */
static bool is_mapped_still(int path, const char *place, const struct mapped_file *file, struct stat *ret)
{
	_cleanup_free_ char *target = NULL;
	size_t length = strlen(file->path);
	ssize_t size;

	if (fstat(path, ret) < 0)
		return false;
	if (!file->inode || ret->st_ino == file->inode)
		return true;
	target = malloc(PATH_MAX);
	if (!target)
		return false;
	size = readlink(place, target, PATH_MAX);
	return size >= (ssize_t)length && strncmp(target, file->path, length) == 0;
}

int open_mapped(const char *proc, u32 pid, const struct mapping *mapping, const char *path, struct stat *ret,
		bool *ret_by_name)
{
	const struct mapped_file *file = mapping->file;
	_cleanup_close_ int found = -1, root = -1, fd = -1;
	char place[PLACE_MAX];

	*ret_by_name = false;
	(void)snprintf(place, sizeof(place), "%s/%u/map_files/%" PRIx64 "-%" PRIx64, proc, pid,
		       (uint64_t)mapping->start, (uint64_t)mapping->end);
	found = open(place, O_PATH | O_CLOEXEC);
	if (found >= 0 && is_mapped_still(found, place, file, ret))
		return open_regular(found, RESOLVER_FILE_MAX, ret);
	if (file->deleted)
		return -ENOENT;
	root = open_root(proc, pid);
	if (root < 0)
		return root;
	fd = open_below(root, path, true, RESOLVER_FILE_MAX, ret);
	if (fd < 0)
		return fd;
	*ret_by_name = ret->st_ino != file->inode || ret->st_dev != makedev(file->major, file->minor);
	if (*ret_by_name && !file->build_id_size)
		return -ESTALE;
	return TAKE_FD(fd);
}
