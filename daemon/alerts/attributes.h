// SPDX-License-Identifier: GPL-2.0
/* Reads the preference (policy/preference.h) on a cgroup's directory. */
#ifndef PEBSD_ALERTS_ATTRIBUTES_H
#define PEBSD_ALERTS_ATTRIBUTES_H

#include "policy/preference.h"

struct attributes {
	struct preference preference; /* its texts belong to this struct */
	int error;                    /* -errno of the last attribute that could not be read; 0: both could */
	const char *unread;           /* the name of that attribute */
};

/*
 * Reads the attributes of the cgroup at `path` ("/a/b") below `root_fd`. An attribute that cannot be read counts
 * as not set. Returns 0, or -ENOENT if there is no such cgroup. Call attributes_done() in both cases.
 */
int attributes_read(int root_fd, const char *path, struct attributes *ret);
void attributes_done(struct attributes *attributes);

#endif
