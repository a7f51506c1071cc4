// SPDX-License-Identifier: GPL-2.0
/*
 * The labels of a cgroup besides its path. Each label has one word, which metrics, JSON and the configuration
 * use.
 */
#ifndef PEBSD_CONTAINER_LABEL_H
#define PEBSD_CONTAINER_LABEL_H

#include <stdbool.h>

#define CONTAINER_LABELS_LIST(X)                                                            \
	X(RUNTIME, "runtime")     /* docker, containerd, cri-o, podman, lxc, */             \
				  /* nspawn, libvirt; machine: known to systemd-machined */ \
	X(NAMESPACE, "namespace") /* the Kubernetes namespace */                            \
	X(POD, "pod")                                                                       \
	X(CONTAINER, "container") /* the name; for libvirt that of the VM */                \
	X(POD_UID, "pod_uid")     /* for a static pod the hash of its manifest */           \
	X(ID, "container_id")                                                               \
	X(UNIT, "unit") /* the innermost systemd unit in the path */                        \
	X(USER, "user") /* the NUMBER in user-NUMBER.slice */

enum container_label {
#define CONTAINER_LABEL_(name, word) CONTAINER_LABEL_##name,
	CONTAINER_LABELS_LIST(CONTAINER_LABEL_)
#undef CONTAINER_LABEL_
		CONTAINER_LABELS
};

/* Bytes of a label with its NUL: directory names have at most 255, names of Kubernetes have fewer. */
#define CONTAINER_TEXT_MAX 256

/* A label may contain any bytes that a path may contain; "": unknown. */
struct container_labels {
	char text[CONTAINER_LABELS][CONTAINER_TEXT_MAX];
};

/* Pointers to the labels, for readers; NULL: unknown. */
struct container {
	const char *text[CONTAINER_LABELS];
};

/*
 * Finds the labels of a cgroup by its path. `find` returns NULL if nothing is known. The result is valid until the
 * next collection or the next answer with names (containers.h).
 */
struct container_lookup {
	const struct container *(*find)(void *userdata, const char *path);
	void *userdata;
};

/* Returns the word of a label, a constant string. */
const char *container_label_name(enum container_label label);

#endif
