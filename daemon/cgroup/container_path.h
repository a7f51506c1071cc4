// SPDX-License-Identifier: GPL-2.0
/*
 * What a cgroup's path tells by itself: which runtime's container it is, of which pod, which unit of systemd
 * runs in it, and whose it is. Pure, and without a look at anything else.
 *
 * Container managers write nothing down about these forms; they are as seen in their sources and on hosts,
 * each in tests/unit/test_container_path.c and in pebsd-containers(7). A path is read from the root on, and
 * the innermost container counts: that of a pod in a node that is itself a container, of a service in a
 * system that is.
 */
#ifndef PEBSD_CONTAINER_PATH_H
#define PEBSD_CONTAINER_PATH_H

#include "cgroup/container_label.h"

/* Hexadecimal digits of a container's id, with every runtime that has ids. */
#define CONTAINER_ID_LENGTH 64

/* Whether the path tells anything; what, in `ret`, which is written in any case. */
bool container_path_parse(const char *path, struct container_labels *ret);

#endif
