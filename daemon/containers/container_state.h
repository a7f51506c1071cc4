// SPDX-License-Identifier: GPL-2.0
/*
 * Names as the kubelet and container runtimes keep them on a host: in names of directories and links, and in
 * JSON. Pure. Whoever may write there may write anything: a name is taken only where it is one (letters,
 * digits, `.`, `_` and `-`, 253 of them at most), what else there is counts as not there.
 *
 * Each takes what it finds into `ret`, as namespace, pod and container, and leaves the rest of it alone.
 * Returns whether there was any.
 */
#ifndef PEBSD_CONTAINER_STATE_H
#define PEBSD_CONTAINER_STATE_H

#include <stddef.h>

#include "cgroup/container_label.h"

/* An entry of /var/log/pods, NAMESPACE_POD_UID (BuildPodLogsDirectory(), pkg/kubelet/kuberuntime/helpers.go,
 * Kubernetes 1.14 and newer), where its pod is `uid`. */
bool container_state_pod_directory(const char *entry, const char *uid, struct container_labels *ret);

/* An entry of /var/log/containers, POD_NAMESPACE_CONTAINER-ID.log (legacyLogSymlink(),
 * pkg/kubelet/kuberuntime/legacy.go), where its container is `id`. */
bool container_state_log_link(const char *entry, const char *id, struct container_labels *ret);

/* Docker's config.v2.json of a container. */
bool container_state_docker(const char *text, size_t length, struct container_labels *ret);

/* A bundle's config.json (OCI runtime specification), by the annotations that containerd, CRI-O and nerdctl
 * put there. */
bool container_state_bundle(const char *text, size_t length, struct container_labels *ret);

/* The list of containers that containers/storage keeps: Podman's containers.json. */
bool container_state_storage(const char *text, size_t length, const char *id, struct container_labels *ret);

/* Whether it is a name as above. */
bool container_state_is_name(const char *name);

#endif
