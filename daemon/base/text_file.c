// SPDX-License-Identifier: GPL-2.0
#include "base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"

#define CHUNK ((size_t)4096)

int text_file_read(const char *path, char **ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	size_t length = 0;

	/* O_NONBLOCK: a FIFO in a copied tree must not block the caller. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	for (;;) {
		char *longer = realloc(text, length + CHUNK + 1);
		ssize_t n;

		if (!longer)
			return -ENOMEM;
		text = longer;
		n = read(fd, text + length, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		length += (size_t)n;
		if (length > TEXT_FILE_MAX)
			return -EFBIG;
	}
	/*
	 * Some sysfs files are longer than their text. events_hybrid_sysfs_show() of Linux 6.1 to 7.3 returns
	 * the length that its text would have without truncation, and the rest of the page is zero.
	 */
	while (length > 0 && text[length - 1] == '\0')
		length--;
	if (memchr(text, '\0', length))
		return -EINVAL;
	while (length > 0 && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}
