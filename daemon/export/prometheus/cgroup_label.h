// SPDX-License-Identifier: GPL-2.0
/* The labels of a cgroup in metrics: its path, and what is known beside it. */
#ifndef PEBSD_CGROUP_LABEL_H
#define PEBSD_CGROUP_LABEL_H

#include "cgroup/container_label.h"

/* Zeroed: the path alone. */
struct cgroup_label_wish {
	const struct container_lookup *containers; /* NULL: nothing is known */
	unsigned int labels;                       /* wanted: bit 1 << enum container_label */
};

/*
 * cgroup="PATH", then those that are wanted and known, with commas between them, escaped. 0 or -ENOMEM; the
 * caller frees.
 */
int cgroup_label(const struct cgroup_label_wish *wish, const char *path, char **ret);

#endif
