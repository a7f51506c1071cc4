// SPDX-License-Identifier: GPL-2.0
#include "history/labels_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/utf8.h"
#include "history/shared/history_pane.h"

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), with the NUL of each label. */
static u64 hash_of(const struct container *container)
{
	u64 hash = 14695981039346656037ULL;

	for (size_t label = 0; container && label < CONTAINER_LABELS; label++) {
		const char *at = container->text[label] ? container->text[label] : "";

		do {
			hash = (hash ^ (u8)*at) * 1099511628211ULL;
		} while (*at++);
	}
	return hash;
}

/* Returns 0, and `*ret` is NULL if there are no labels, or -ENOMEM. */
static int make(const struct container *container, char **ret)
{
	_cleanup_json_ json_object *object = json_object_new_object();
	const char *text;

	*ret = NULL;
	if (!object)
		return -ENOMEM;
	for (enum container_label label = 0; container && label < CONTAINER_LABELS; label++) {
		const char *value = container->text[label];

		if (!value || !value[0] || !utf8_is_valid(value))
			continue;
		if (json_object_object_add(object, container_label_name(label),
					   json_object_new_string(value)) < 0)
			return -ENOMEM;
	}
	if (json_object_object_length(object) == 0)
		return 0;
	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
	/* A pane with a longer text is not stored. Control characters take six bytes each. */
	if (text && strlen(text) >= HISTORY_TEXT_MAX)
		return 0;
	*ret = text ? strdup(text) : NULL;
	return *ret ? 0 : -ENOMEM;
}

const char *labels_json_of(struct labels_json *labels, const struct container *container)
{
	const u64 hash = hash_of(container);

	if (labels->hash != hash) {
		free(labels->text);
		/* Without memory, the next call tries again. No labels have the hash 0. */
		labels->hash = make(container, &labels->text) == 0 ? hash : 0;
	}
	return labels->text ? labels->text : "";
}

void labels_json_done(struct labels_json *labels)
{
	free(labels->text);
	*labels = (struct labels_json){0};
}
