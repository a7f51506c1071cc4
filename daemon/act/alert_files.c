// SPDX-License-Identifier: GPL-2.0
#include "act/alert_files.h"
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define SUFFIX "env"

static int make_directories(const char *path)
{
	_cleanup_free_ char *name = strdup(path);

	if (!name)
		return -ENOMEM;
	for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(name, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(name, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int alert_files_open(const char *path, int *ret)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (!*path)
		return -ENOENT;
	r = make_directories(path);
	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	*ret = TAKE_FD(fd);
	return 0;
}

void alert_files_name(u64 alert, char ret[ALERT_FILES_NAME_MAX])
{
	(void)snprintf(ret, ALERT_FILES_NAME_MAX, "%llu." SUFFIX, (unsigned long long)alert);
}

/* Returns whether `name` is that of a NUMBER.env, or of one that alert_store_replace() has not finished. */
static bool is_name(const char *name, u64 *ret_alert)
{
	char expected[ALERT_FILES_NAME_MAX];
	size_t length;

	*ret_alert = strtoull(name, NULL, 10);
	alert_files_name(*ret_alert, expected);
	length = strlen(expected);
	if (strncmp(name, expected, length) != 0)
		return false;
	return name[length] == '\0' || strcmp(name + length, ".new") == 0;
}

int alert_files_scan(int directory, void (*found)(void *userdata, u64 alert), void *userdata)
{
	_cleanup_closedir_ DIR *stream = NULL;
	const struct dirent *entry;
	u64 alert;
	int fd;

	fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stream = fdopendir(fd);
	if (!stream) {
		int error = -errno;

		(void)close(fd);
		return error;
	}
	for (errno = 0; (entry = readdir(stream)); errno = 0)
		if (is_name(entry->d_name, &alert))
			found(userdata, alert);
	return -errno;
}

int alert_files_remove(int directory, u64 alert)
{
	char name[ALERT_FILES_NAME_MAX], half[ALERT_FILES_NAME_MAX + 4];

	alert_files_name(alert, name);
	(void)snprintf(half, sizeof(half), "%s.new", name);
	if ((unlinkat(directory, name, 0) < 0 && errno != ENOENT) ||
	    (unlinkat(directory, half, 0) < 0 && errno != ENOENT))
		return -errno;
	return 0;
}
