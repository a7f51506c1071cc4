// SPDX-License-Identifier: GPL-2.0
#include "ctl/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct new_file {
	int fd;
	char *path, *beside; /* beside: the temporary file; NULL: the path is written directly */
};

/* Returns a template for mkstemp(3): a name in the directory of `path`. */
static char *name_beside(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *beside;

	return asprintf(&beside, "%.*s.%.200s.XXXXXX", (int)(name - path), path, name) < 0 ? NULL : beside;
}

int new_file_open(const char *path, struct new_file **ret)
{
	_cleanup_(new_file_freep) struct new_file *file = calloc(1, sizeof(*file));
	struct stat status;
	int r;

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
		file->path = strdup(path);
		file->beside = name_beside(path);
		if (!file->path || !file->beside)
			return -ENOMEM;
		file->fd = mkostemp(file->beside, O_CLOEXEC);
	}
	if (file->fd < 0) {
		r = -errno;
		free(TAKE_PTR(file->beside));
		return r;
	}
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
	int fd = TAKE_FD(file->fd);

	if (close(fd) < 0)
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
