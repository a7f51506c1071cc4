// SPDX-License-Identifier: GPL-2.0
/* The labels of a cgroup in metrics: its path, and the names of its container. */
#ifndef PEBSD_CGROUP_LABEL_H
#define PEBSD_CGROUP_LABEL_H

#include "cgroup/container_label.h"

/* The labels to write. Zeroed: only the path. */
struct cgroup_label_request {
	const struct container_lookup *containers; /* NULL: no container is known */
	unsigned int labels;                       /* wanted labels: bit 1 << enum container_label */
};

/*
 * Writes cgroup="PATH", then the wanted labels that are known, escaped and separated by commas. Returns 0 or
 * -ENOMEM; the caller frees `ret`.
 */
int cgroup_label(const struct cgroup_label_request *request, const char *path, char **ret);

#endif
