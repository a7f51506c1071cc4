// SPDX-License-Identifier: GPL-2.0
#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

void standard_descriptors_occupy(void)
{
	int fd;

	/* The kernel hands out the lowest free descriptor. */
	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
}
