// SPDX-License-Identifier: GPL-2.0
/*
 * Parses names as the kubelet and container runtimes keep them on a host: in names of directories and links, and
 * in JSON. Pure functions. The input is not trusted. A name is accepted only if it begins with a letter or digit
 * and consists of letters, digits, `.`, `_` and `-`, at most 253 of them. Anything else counts as missing.
 *
 * Each function writes namespace, pod and container to `ret`, as far as it finds them, and leaves the other
 * labels unchanged. It returns whether it found any.
 */
#ifndef PEBSD_CONTAINER_STATE_H
#define PEBSD_CONTAINER_STATE_H

#include <stddef.h>

#include "cgroup/container_label.h"

/*
 * Parses an entry of /var/log/pods, NAMESPACE_POD_UID (BuildPodLogsDirectory(),
 * pkg/kubelet/kuberuntime/helpers.go, Kubernetes 1.14 and newer), if its pod is `uid`.
 */
bool container_state_pod_directory(const char *entry, const char *uid, struct container_labels *ret);

/*
 * Parses an entry of /var/log/containers, POD_NAMESPACE_CONTAINER-ID.log (legacyLogSymlink(),
 * pkg/kubelet/kuberuntime/legacy.go), if its container is `id`.
 */
bool container_state_log_link(const char *entry, const char *id, struct container_labels *ret);

/* Parses Docker's config.v2.json of a container. */
bool container_state_docker(const char *text, size_t length, struct container_labels *ret);

/*
 * Parses config.json of a bundle (OCI runtime specification), by the annotations that containerd, CRI-O and
 * nerdctl add.
 */
bool container_state_bundle(const char *text, size_t length, struct container_labels *ret);

/*
 * Parses a list of containers that containers/storage keeps for Podman (containers.json and
 * volatile-containers.json). Uses the first name of the container `id`.
 */
bool container_state_storage(const char *text, size_t length, const char *id, struct container_labels *ret);

/* Returns whether `name` is a valid name as described above. */
bool container_state_is_name(const char *name);

#endif
