// SPDX-License-Identifier: GPL-2.0
#include "ctl/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

struct new_file {
	int fd;
	char *path;   /* NULL: written directly */
	char *beside; /* the temporary file's path; NULL: it has no name, or there is none */
};

/* The length of the part of `path` that names the directory, with the last slash. */
static int directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

/*
 * A file without a name vanishes with its last descriptor, also if a signal ends the program. Returns a descriptor;
 * -EOPNOTSUPP if the file system has no such files (open(2), O_TMPFILE) or /proc is missing; or another -errno.
 */
static int open_unnamed(const char *path)
{
	_cleanup_free_ char *directory = NULL;
	int fd;

	/* name_unnamed() needs /proc. */
	if (access("/proc/self/fd", X_OK) < 0)
		return -EOPNOTSUPP;
	if (asprintf(&directory, "%.*s.", directory_length(path), path) < 0)
		return -ENOMEM;
	fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EISDIR ? -EOPNOTSUPP : -errno;
	return fd;
}

/* Gives the temporary file a name in the directory of `path`, so that it can be renamed to it. */
static int name_unnamed(struct new_file *file)
{
	const int length = directory_length(file->path);
	char self[32];
	u64 random;

	if (getrandom(&random, sizeof(random), 0) < 0)
		return -errno;
	if (asprintf(&file->beside, "%.*s.%.200s.%016lx", length, file->path, file->path + length, random) <
	    0) {
		file->beside = NULL;
		return -ENOMEM;
	}
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	if (linkat(AT_FDCWD, self, AT_FDCWD, file->beside, AT_SYMLINK_FOLLOW) < 0) {
		int r = -errno;

		free(TAKE_PTR(file->beside));
		return r;
	}
	return 0;
}

/* Returns a descriptor or -errno. */
static int open_named(struct new_file *file)
{
	const int length = directory_length(file->path);
	int fd, r;

	if (asprintf(&file->beside, "%.*s.%.200s.XXXXXX", length, file->path, file->path + length) < 0) {
		file->beside = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(file->beside, O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		free(TAKE_PTR(file->beside));
		return r;
	}
	return fd;
}

int new_file_open(const char *path, struct new_file **ret)
{
	_cleanup_(new_file_freep) struct new_file *file = calloc(1, sizeof(*file));
	struct stat status;

	if (!file)
		return -ENOMEM;
	file->fd = -1;
	if (strcmp(path, "-") == 0) {
		file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		if (S_ISDIR(status.st_mode))
			return -EISDIR;
		file->fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	} else {
		int r;

		file->path = strdup(path);
		if (!file->path)
			return -ENOMEM;
		r = open_unnamed(path);
		if (r == -EOPNOTSUPP)
			r = open_named(file);
		if (r < 0)
			return r;
		file->fd = r;
	}
	if (file->fd < 0)
		return -errno;
	*ret = TAKE_PTR(file);
	return 0;
}

int new_file_write(struct new_file *file, const u8 *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(file->fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		size -= (size_t)written;
	}
	return 0;
}

int new_file_finish(struct new_file *file)
{
	if (file->path && !file->beside) {
		int r = name_unnamed(file);

		if (r < 0)
			return r;
	}
	if (close(TAKE_FD(file->fd)) < 0)
		return -errno;
	if (!file->beside)
		return 0;
	if (rename(file->beside, file->path) < 0)
		return -errno;
	free(TAKE_PTR(file->beside));
	return 0;
}

struct new_file *new_file_free(struct new_file *file)
{
	if (!file)
		return NULL;
	if (file->fd >= 0)
		(void)close(file->fd);
	if (file->beside)
		(void)unlink(file->beside);
	free(file->beside);
	free(file->path);
	free(file);
	return NULL;
}
