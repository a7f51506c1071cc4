// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a cgroup's path. All texts must be terminated, ids must be valid, and a unit must not contain a
 * slash. Only a path that begins with a slash may have labels.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/container_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_made_of(const char *text, const char *alphabet)
{
	return strspn(text, alphabet) == strlen(text);
}

static void check_ids(const struct container_labels *labels)
{
	const char *id = labels->text[CONTAINER_LABEL_ID], *uid = labels->text[CONTAINER_LABEL_POD_UID];

	/* The ids become parts of file names. */
	if (*id && (strlen(id) != CONTAINER_ID_LENGTH || !is_made_of(id, "0123456789abcdef")))
		abort();
	if (*uid && ((strlen(uid) != 32 && strlen(uid) != 36) || !is_made_of(uid, "0123456789abcdef-")))
		abort();
	if (!is_made_of(labels->text[CONTAINER_LABEL_USER], "0123456789"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *path = strndup((const char *)data, size);
	struct container_labels labels;
	bool known, any = false;

	if (!path)
		return 0;
	memset(&labels, 0xff, sizeof(labels));
	known = container_path_parse(path, &labels);
	if (known && *path != '/')
		abort();
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++) {
		if (!memchr(labels.text[label], '\0', CONTAINER_TEXT_MAX))
			abort();
		any = any || *labels.text[label];
	}
	if (any != known || strchr(labels.text[CONTAINER_LABEL_UNIT], '/'))
		abort();
	check_ids(&labels);
	return 0;
}
