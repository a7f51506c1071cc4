// SPDX-License-Identifier: GPL-2.0
#include "alerts/attributes.h"

#include <errno.h>
#include <stdlib.h>

#include "cgroup/xattr.h"

static int read_one(int root_fd, const char *path, const char *name, const char **ret_text,
		    struct attributes *attributes)
{
	char *text = NULL;
	int r = cgroup_xattr(root_fd, path, name, PREFERENCE_TEXT_MAX, &text,
			     &attributes->preference.owner_is_root);

	*ret_text = text;
	if (r == 0 || r == -ENOENT)
		return r;
	attributes->error = r;
	attributes->unread = name;
	return 0;
}

int attributes_read(int root_fd, const char *path, struct attributes *ret)
{
	int r;

	*ret = (struct attributes){0};
	r = read_one(root_fd, path, PREFERENCE_IGNORE, &ret->preference.ignore, ret);
	if (r == 0)
		r = read_one(root_fd, path, PREFERENCE_THRESHOLD, &ret->preference.threshold, ret);
	return r;
}

void attributes_done(struct attributes *attributes)
{
	free((char *)attributes->preference.ignore);
	free((char *)attributes->preference.threshold);
}
