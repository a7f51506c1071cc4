// SPDX-License-Identifier: GPL-2.0
/*
 * Parses the facts that a cgroup's path contains: the container, its runtime and pod, the systemd unit, and the
 * user. Pure functions, which read nothing but the path.
 *
 * Container managers do not document these forms. They were taken from their sources and from hosts, and each is
 * listed in tests/unit/test_container_path.c and in pebsd-containers(7). A path is read from the root, and the
 * innermost container counts. Examples are a pod in a node that is itself a container, and a service in a system
 * container.
 */
#ifndef PEBSD_CONTAINER_PATH_H
#define PEBSD_CONTAINER_PATH_H

#include "cgroup/container_label.h"

/* Hexadecimal digits of a container id, for every runtime that has ids. */
#define CONTAINER_ID_LENGTH 64

/* Writes the labels to `*ret`, which is always written. Returns false if the path contains no label. */
bool container_path_parse(const char *path, struct container_labels *ret);

#endif
