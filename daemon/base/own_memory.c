// SPDX-License-Identifier: GPL-2.0
#include "base/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_file.h"

int own_memory_open(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int own_memory_of_statm(const char *text, u64 page_size, u64 *ret)
{
	unsigned long long resident, shared;

	if (sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || shared > resident)
		return -ENODATA;
	*ret = (resident - shared) * page_size;
	return 0;
}

int own_memory_read(int fd, u64 *ret)
{
	char text[256];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return own_memory_of_statm(text, (u64)sysconf(_SC_PAGESIZE), ret);
}

/* Reads a line such as "VmHWM:	    1234 kB", and returns bytes. */
static bool line_of(const char *text, const char *name, u64 *ret)
{
	size_t length = strlen(name);
	unsigned long long kib;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && sscanf(line + length, ": %llu kB", &kib) == 1) {
			*ret = kib * 1024;
			return true;
		}
	}
	return false;
}

int own_memory_peak_of_status(const char *text, u64 *ret)
{
	u64 most, anonymous, files, shared;

	if (!line_of(text, "VmHWM", &most) || !line_of(text, "RssAnon", &anonymous) ||
	    !line_of(text, "RssFile", &files) || !line_of(text, "RssShmem", &shared))
		return -ENODATA;
	*ret = most > files + shared + anonymous ? most - files - shared : anonymous;
	return 0;
}

int own_memory_peak(u64 *ret)
{
	_cleanup_free_ char *text = NULL;
	int r = text_file_read("/proc/self/status", &text);

	return r < 0 ? r : own_memory_peak_of_status(text, ret);
}
