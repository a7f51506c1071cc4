// SPDX-License-Identifier: GPL-2.0
/*
 * Parses the facts that a cgroup's path contains: the container, its runtime and pod, the systemd unit, and the
 * user. Pure functions, which read nothing but the path.
 *
 * Container managers do not document the forms of these paths. The forms were taken from the managers' sources
 * and from hosts, and each is listed in tests/unit/test_container_path.c and in pebsd-containers(7). A path is
 * read from the root. If it contains several containers or systems, the labels are those of the innermost, for
 * example of a pod in a node that is itself a container. For a service in a system container, they are that
 * container and that service.
 */
#ifndef PEBSD_CONTAINER_PATH_H
#define PEBSD_CONTAINER_PATH_H

#include <stddef.h>

#include "cgroup/container_label.h"

/* Hexadecimal digits of a container id, for every runtime that has ids. */
#define CONTAINER_ID_LENGTH 64

/* Writes the labels to `*ret`, which is always written. Returns false if the path contains no label. */
bool container_path_parse(const char *path, struct container_labels *ret);

/* A component of a path, in bytes from the path's start. Length 0: none. */
struct container_place {
	size_t at, length;
};

/* The components that labels come from. */
struct container_places {
	struct container_place container; /* the innermost container, pod or virtual machine */
	struct container_place unit;      /* the label `unit` */
};

/* Same as container_path_parse(), and also writes the places. */
bool container_path_find(const char *path, struct container_labels *ret, struct container_places *ret_places);

#endif
