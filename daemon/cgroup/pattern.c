// SPDX-License-Identifier: GPL-2.0
#include "cgroup/pattern.h"

#include "base/glob.h"

bool cgroup_patterns_match(char *const *patterns, size_t n, const char *path)
{
	const bool below_root = *path == '/';

	for (size_t i = 0; i < n; i++) {
		const char *pattern = patterns[i];

		if (glob_match(pattern, path) ||
		    (!below_root && *pattern == '/' && glob_match(pattern + 1, path)))
			return true;
	}
	return false;
}
