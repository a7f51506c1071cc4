// SPDX-License-Identifier: GPL-2.0
#include "ctl/output.h"

#include <errno.h>
#include <unistd.h>

int output_write(const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = write(STDOUT_FILENO, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}
