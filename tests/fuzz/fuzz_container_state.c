// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as file names and files that the kubelet and container runtimes keep on a host. The first byte says
 * which of them. Every accepted name must be harmless in labels, logs and terminals.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "containers/container_state.h"

#define ID  "3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define UID "12fdc709-933e-41d0-917f-cd84de9afa94"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_as(char kind, const char *text, size_t length, struct container_labels *labels)
{
	switch (kind) {
	case 'p':
		return container_state_pod_directory(text, UID, labels);
	case 'l':
		return container_state_log_link(text, ID, labels);
	case 'd':
		return container_state_docker(text, length, labels);
	case 'b':
		return container_state_bundle(text, length, labels);
	default:
		return container_state_storage(text, length, ID, labels);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container_labels labels = {0};
	_cleanup_free_ char *text = size > 0 ? strndup((const char *)data + 1, size - 1) : NULL;
	bool any = false, known;

	if (!text)
		return 0;
	known = read_as((char)data[0], text, strlen(text), &labels);
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++) {
		const char *name = labels.text[label];
		bool may_be_there = label == CONTAINER_LABEL_NAMESPACE || label == CONTAINER_LABEL_POD ||
				    label == CONTAINER_LABEL_CONTAINER;

		if (*name && (!may_be_there || !container_state_is_name(name)))
			abort();
		any = any || *name;
	}
	if (any != known)
		abort();
	return 0;
}
