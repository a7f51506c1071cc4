// SPDX-License-Identifier: GPL-2.0
#include "cgroup/plain_path.h"

#include <stddef.h>
#include <string.h>

bool plain_path(const char *text)
{
	if (strcmp(text, "/") == 0)
		return true;
	if (*text != '/')
		return false;
	for (const char *slash = text; slash; slash = strchr(slash + 1, '/')) {
		const char *name = slash + 1;
		size_t length = strcspn(name, "/");

		if (length == 0 || (length <= 2 && strncmp(name, "..", length) == 0))
			return false;
	}
	return true;
}
