// SPDX-License-Identifier: GPL-2.0
/* What pebsd and the process that reads containers' names say to each other: one message each way, of the
 * same form, one at a time. */
#ifndef PEBSD_CONTAINER_WIRE_H
#define PEBSD_CONTAINER_WIRE_H

#include <string.h>

#include "cgroup/container_label.h"
#include "pebsd/types.h"

/* A question has what the path tells; the answer to its number what was found beside it. */
struct container_message {
	u64 number;
	struct container_labels labels;
};

/* Whether so many bytes are one, whose texts end. */
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
