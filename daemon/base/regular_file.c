// SPDX-License-Identifier: GPL-2.0
#include "base/regular_file.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/cleanup.h"

int regular_file_read(int fd, size_t most, char **ret, size_t *ret_length)
{
	_cleanup_free_ char *text = NULL;
	size_t length = 0, size;
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	size = (size_t)status.st_size;
	if (size > most)
		return -EFBIG;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	while (length < size) {
		ssize_t n = read(fd, text + length, size - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		length += (size_t)n;
	}
	text[length] = '\0';
	*ret = TAKE_PTR(text);
	*ret_length = length;
	return 0;
}
