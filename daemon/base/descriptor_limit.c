// SPDX-License-Identifier: GPL-2.0
#include "descriptor_limit.h"

#include <dirent.h>
#include <errno.h>

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

static int count_used(size_t *ret)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;
	size_t n = 0;

	if (!directory)
		return -errno;
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
