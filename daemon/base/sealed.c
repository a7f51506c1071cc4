// SPDX-License-Identifier: GPL-2.0
#include "base/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int sealed_new(const char *name, const void *bytes, size_t size, int *ret_fd)
{
	_cleanup_close_ int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	for (size_t at = 0; at < size;) {
		ssize_t n = write(fd, (const u8 *)bytes + at, size - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += (size_t)n;
	}
	if (fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

bool sealed_is(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}
