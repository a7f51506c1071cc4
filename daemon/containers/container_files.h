// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the names of a pod and a container in files and directories that the kubelet and the runtimes keep on this
 * host. The search only reads files and sends no request. A file system may block it, so it runs in a process of
 * its own (container_worker.h).
 *
 * The contents are not trusted. The search reads at most CONTAINER_FILES_ENTRIES entries of a directory, and only
 * regular files of at most CONTAINER_FILES_BYTES. Below the well-known directories it follows no symbolic link.
 * Opening a FIFO does not wait (O_NONBLOCK).
 */
#ifndef PEBSD_CONTAINER_FILES_H
#define PEBSD_CONTAINER_FILES_H

#include "cgroup/container_label.h"

#define CONTAINER_FILES_ENTRIES 16384
#define CONTAINER_FILES_BYTES   (4UL << 20)

/*
 * Adds namespace, pod and container to `labels`, which come from the path (container_path.h). Adds the
 * runtime if only the place of the files reveals it. `root` is a descriptor of the directory that stands for
 * /.
 */
void container_files_find(int root, struct container_labels *labels);

/*
 * Returns whether `labels` have all names that a cgroup with their path can have. This is never true for the
 * sandbox of a pod, which has no container name. Pure: no system call.
 */
bool container_files_complete(const struct container_labels *labels);

#endif
