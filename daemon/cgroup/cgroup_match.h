// SPDX-License-Identifier: GPL-2.0
/* Matches the name by which a user means a cgroup. Pure function. */
#ifndef PEBSD_CGROUP_MATCH_H
#define PEBSD_CGROUP_MATCH_H

#include <stdbool.h>

#include "cgroup/container_label.h"

/*
 * Returns true if `name` is one of these, in its shown form (base/utf8.h):
 * - the path, or the end of it after a `/`; for names that are not paths ("model:NAME"), the end after the `:`
 * - the same without `.service`, `.scope` or `.slice` at its end
 * - of `labels`: CONTAINER, POD, POD/CONTAINER, NAMESPACE/POD or NAMESPACE/POD/CONTAINER
 * - at least the first 12 digits of the container's id
 * A name that begins with `/` is a whole path. `labels` may be NULL. An empty name matches nothing.
 */
bool cgroup_match(const char *path, const struct container *labels, const char *name);

#endif
