// SPDX-License-Identifier: GPL-2.0
/*
 * The messages between pebsd and the process that reads containers' names: a request and its answer, both of
 * the same form, one at a time.
 */
#ifndef PEBSD_CONTAINER_WIRE_H
#define PEBSD_CONTAINER_WIRE_H

#include <string.h>

#include "cgroup/container_label.h"
#include "pebsd/types.h"

/*
 * A request contains the labels from the path. Its answer has the same number and adds the names that were
 * found.
 */
struct container_message {
	u64 number;
	struct container_labels labels;
};

/* Returns whether `bytes` is the size of a message and all its texts are terminated. */
static inline bool container_message_ok(const struct container_message *message, size_t bytes)
{
	if (bytes != sizeof(*message))
		return false;
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++)
		if (!memchr(message->labels.text[label], '\0', CONTAINER_TEXT_MAX))
			return false;
	return true;
}

#endif
