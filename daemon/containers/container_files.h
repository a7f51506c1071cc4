// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the names of a pod and a container in what the kubelet and the runtimes keep on this host. Reads, and
 * asks nobody. It may take as long as a file system takes: it is the business of a process of its own
 * (container_worker.h).
 *
 * What is there may be anything. Directories are read up to CONTAINER_FILES_ENTRIES entries; only regular
 * files are, of at most CONTAINER_FILES_BYTES; below the well-known directories no link is followed, and
 * nothing that is opened is waited for.
 */
#ifndef PEBSD_CONTAINER_FILES_H
#define PEBSD_CONTAINER_FILES_H

#include "cgroup/container_label.h"

#define CONTAINER_FILES_ENTRIES 16384
#define CONTAINER_FILES_BYTES   (4UL << 20)

/*
 * Adds to `labels`, which are as their path tells (container_path.h), namespace, pod and container, and the
 * runtime where only where it was found tells it. `root`: an open directory that stands for /.
 */
void container_files_find(int root, struct container_labels *labels);

/* Whether all is known that can be of such a path; a sandbox of a pod, which has no name, never is. Pure. */
bool container_files_complete(const struct container_labels *labels);

#endif
