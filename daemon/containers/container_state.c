// SPDX-License-Identifier: GPL-2.0
#include "containers/container_state.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"

/* The limit for host names and for the longest names of Kubernetes. */
#define NAME_LENGTH_MAX 253

#define DIGITS_AND_LETTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Maximum depth of JSON. An OCI bundle has about ten levels. */
#define DEPTH 32

bool container_state_is_name(const char *name)
{
	size_t length = strnlen(name, NAME_LENGTH_MAX + 1);

	return length > 0 && length <= NAME_LENGTH_MAX && strchr(DIGITS_AND_LETTERS, *name) &&
	       strspn(name, DIGITS_AND_LETTERS "._-") == length;
}

static bool put(struct container_labels *labels, enum container_label label, const char *name)
{
	if (!name || !container_state_is_name(name))
		return false;
	memcpy(labels->text[label], name, strlen(name) + 1);
	return true;
}

/* Cuts `text` at its next `_`, and returns the rest or NULL. Names of Kubernetes contain no `_`. */
static char *split(char *text)
{
	char *separator = text ? strchr(text, '_') : NULL;

	if (!separator)
		return NULL;
	*separator = '\0';
	return separator + 1;
}

bool container_state_pod_directory(const char *entry, const char *uid, struct container_labels *ret)
{
	char namespace[CONTAINER_TEXT_MAX];
	char *pod, *its_uid;

	if (strlen(entry) >= sizeof(namespace))
		return false;
	memcpy(namespace, entry, strlen(entry) + 1);
	pod = split(namespace);
	its_uid = split(pod);
	if (!its_uid || strcmp(its_uid, uid) != 0 || !container_state_is_name(namespace) ||
	    !container_state_is_name(pod))
		return false;
	(void)put(ret, CONTAINER_LABEL_NAMESPACE, namespace);
	return put(ret, CONTAINER_LABEL_POD, pod);
}

bool container_state_log_link(const char *entry, const char *id, struct container_labels *ret)
{
	char pod[CONTAINER_TEXT_MAX];
	size_t length = strlen(entry), end = strlen("-") + strlen(id) + strlen(".log");
	char *namespace, *container;

	/*
	 * If pod and container have long names, the kubelet truncates the id, and the entry cannot be
	 * assigned.
	 */
	if (length >= sizeof(pod) || length <= end || entry[length - end] != '-' ||
	    memcmp(entry + length - end + 1, id, strlen(id)) != 0 ||
	    strcmp(entry + length - strlen(".log"), ".log") != 0)
		return false;
	memcpy(pod, entry, length - end);
	pod[length - end] = '\0';
	namespace = split(pod);
	container = split(namespace);
	if (!container || !container_state_is_name(pod) || !container_state_is_name(namespace) ||
	    !container_state_is_name(container))
		return false;
	(void)put(ret, CONTAINER_LABEL_POD, pod);
	(void)put(ret, CONTAINER_LABEL_NAMESPACE, namespace);
	return put(ret, CONTAINER_LABEL_CONTAINER, container);
}

/* Uses the first of the keys that has a name. */
static bool put_first(struct container_labels *labels, enum container_label label, const json_object *object,
		      const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (put(labels, label, json_get_text(object, keys[i])))
			return true;
	return false;
}

/*
 * Uses the annotations of containerd (pkg/cri/annotations) and of CRI-O (pkg/annotations, internal), and the
 * labels of cri-dockerd and of nerdctl (pkg/labels).
 */
static bool put_annotated(struct container_labels *labels, const json_object *object)
{
	static const char *const namespaces[] = {"io.kubernetes.cri.sandbox-namespace",
						 "io.kubernetes.pod.namespace"};
	static const char *const pods[] = {"io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name"};
	static const char *const containers[] = {"io.kubernetes.cri.container-name",
						 "io.kubernetes.container.name", "nerdctl/name"};
	bool any = put_first(labels, CONTAINER_LABEL_NAMESPACE, object, namespaces, ARRAY_SIZE(namespaces));

	any = put_first(labels, CONTAINER_LABEL_POD, object, pods, ARRAY_SIZE(pods)) || any;
	return put_first(labels, CONTAINER_LABEL_CONTAINER, object, containers, ARRAY_SIZE(containers)) ||
	       any;
}

static bool parse(const char *text, size_t length, json_object **ret)
{
	return json_parse(text, length, DEPTH, ret) == 0 && *ret;
}

bool container_state_docker(const char *text, size_t length, struct container_labels *ret)
{
	_cleanup_json_ json_object *object = NULL;
	const char *name;
	bool any;

	if (!parse(text, length, &object))
		return false;
	name = json_get_text(object, "Name");
	any = name && put(ret, CONTAINER_LABEL_CONTAINER, name + (*name == '/'));
	return put_annotated(ret, json_get_object(json_get_object(object, "Config"), "Labels")) || any;
}

bool container_state_bundle(const char *text, size_t length, struct container_labels *ret)
{
	_cleanup_json_ json_object *object = NULL;

	return parse(text, length, &object) && put_annotated(ret, json_get_object(object, "annotations"));
}

bool container_state_storage(const char *text, size_t length, const char *id, struct container_labels *ret)
{
	_cleanup_json_ json_object *list = NULL;

	if (!parse(text, length, &list) || !json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const json_object *one = json_object_array_get_idx(list, i);
		const char *its_id = json_get_text(one, "id");
		json_object *names = json_get_array(one, "names");
		json_object *first = names && json_object_array_length(names) > 0
					     ? json_object_array_get_idx(names, 0)
					     : NULL;

		if (its_id && strcmp(its_id, id) == 0)
			return json_object_is_type(first, json_type_string) &&
			       (size_t)json_object_get_string_len(first) ==
				       strlen(json_object_get_string(first)) &&
			       put(ret, CONTAINER_LABEL_CONTAINER, json_object_get_string(first));
	}
	return false;
}
