// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the names of a pod and a container in files and directories that the kubelet and the runtimes keep on
 * this host. It only reads and sends no request to them. It may block as long as a file system does, so it
 * runs in a process of its own (container_worker.h).
 *
 * The contents are not trusted. It reads directories up to CONTAINER_FILES_ENTRIES entries, and only regular
 * files, up to CONTAINER_FILES_BYTES each. Below the well-known directories it follows no symbolic link, and
 * opening never waits.
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
 * Returns whether `labels` have all names that their path can have. This is never true for the sandbox of a
 * pod, which has no name. Pure: no system call.
 */
bool container_files_complete(const struct container_labels *labels);

#endif
