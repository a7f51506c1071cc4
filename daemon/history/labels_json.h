// SPDX-License-Identifier: GPL-2.0
/* The labels of a cgroup as a text of the history: a JSON object of texts. It is made again only if they changed. */
#ifndef PEBSD_LABELS_JSON_H
#define PEBSD_LABELS_JSON_H

#include "cgroup/container_label.h"
#include "pebsd/types.h"

/* All zero: no labels. Free it with labels_json_done(). */
struct labels_json {
	char *text; /* NULL: none */
	u64 hash;   /* of the labels that `text` was made of */
};

/*
 * Returns the text of these labels (NULL: none), valid until the next call or labels_json_done(). Labels that are not
 * UTF-8 are left out. "": there are none, or no memory.
 */
const char *labels_json_of(struct labels_json *labels, const struct container *container);
void labels_json_done(struct labels_json *labels);

#endif
