// SPDX-License-Identifier: GPL-2.0
#include "base/descriptor_limit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

/* The kernel hands out the lowest free descriptor, so no descriptor is expected above this number. */
#define COUNTED_MAX 65536

int descriptor_limit_for(const struct rlimit *limit, size_t used, size_t more, rlim_t *ret)
{
	size_t needed;

	if (__builtin_add_overflow(used, more, &needed) ||
	    __builtin_add_overflow(needed, DESCRIPTORS_SPARE, &needed))
		return -EMFILE;
	if (needed > limit->rlim_max)
		return -EMFILE;
	*ret = needed > limit->rlim_cur ? limit->rlim_max : limit->rlim_cur;
	return 0;
}

/* Counts with fcntl(2), if /proc is hidden or no descriptor is left to read it. */
static int count_one_by_one(size_t *ret)
{
	struct rlimit limit;
	size_t n = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	for (rlim_t fd = 0; fd < limit.rlim_cur && fd < COUNTED_MAX; fd++)
		n += fcntl((int)fd, F_GETFD) >= 0;
	*ret = n;
	return 0;
}

static int count_used(size_t *ret)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;
	size_t n = 0;

	if (!directory)
		return count_one_by_one(ret);
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			n++;
	(void)closedir(directory);
	*ret = n;
	return 0;
}

int descriptor_limit_reserve(size_t more)
{
	struct rlimit limit;
	size_t used = 0;
	rlim_t soft;
	int r;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	r = count_used(&used);
	if (r < 0)
		return r;
	r = descriptor_limit_for(&limit, used, more, &soft);
	if (r < 0)
		return r;
	if (soft == limit.rlim_cur)
		return 0;
	limit.rlim_cur = soft;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : 0;
}
