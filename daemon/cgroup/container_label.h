// SPDX-License-Identifier: GPL-2.0
/* What is told of a cgroup beside its path: each under one word, in metrics, JSON and the configuration. */
#ifndef PEBSD_CONTAINER_LABEL_H
#define PEBSD_CONTAINER_LABEL_H

#include <stdbool.h>

#define CONTAINER_LABELS_LIST(X)                                                          \
	X(RUNTIME, "runtime")     /* docker, containerd, cri-o, podman, lxc, nspawn, */   \
				  /* libvirt; machine: one that systemd-machined knows */ \
	X(NAMESPACE, "namespace") /* of Kubernetes */                                     \
	X(POD, "pod")                                                                     \
	X(CONTAINER, "container") /* its name; of libvirt the virtual machine's */        \
	X(POD_UID, "pod_uid")     /* of a static pod the hash of its manifest */          \
	X(ID, "container_id")                                                             \
	X(UNIT, "unit") /* of systemd, the one nearest to the cgroup */                   \
	X(USER, "user") /* number, of user-NUMBER.slice */

enum container_label {
#define CONTAINER_LABEL_(name, word) CONTAINER_LABEL_##name,
	CONTAINER_LABELS_LIST(CONTAINER_LABEL_)
#undef CONTAINER_LABEL_
		CONTAINER_LABELS
};

/* Bytes of one with its NUL: names of directories have no more, names of Kubernetes fewer. */
#define CONTAINER_TEXT_MAX 256

/* Any bytes, as paths may hold; "": not known. */
struct container_labels {
	char text[CONTAINER_LABELS][CONTAINER_TEXT_MAX];
};

/* The same for those who read it; NULL: not known. */
struct container {
	const char *text[CONTAINER_LABELS];
};

/* Where it comes from: by path, NULL where nothing is known of it. What it returns is valid until the next
 * collection. */
struct container_lookup {
	const struct container *(*find)(void *userdata, const char *path);
	void *userdata;
};

/* Its word. A constant. */
const char *container_label_name(enum container_label label);

#endif
