// SPDX-License-Identifier: GPL-2.0
/* The names of cgroups in replies: the shown forms of their paths (base/utf8.h), and short names. */
#ifndef PEBSD_EXPORT_JSON_NAMES_H
#define PEBSD_EXPORT_JSON_NAMES_H

#include <json-c/json.h>

#include "cgroup/short_names.h"
#include "snapshot/snapshot.h"

/* Finds a cgroup by the shown form of its path; NULL: none. */
const struct snapshot_cgroup *json_find_cgroup(const struct snapshot *snapshot, const char *shown);

/*
 * Adds the member "name" to every object in `value`, and to `value`, that has the path of a cgroup as its member
 * "cgroup". Returns `value`, or NULL if memory runs out: `value` is then freed. `names` NULL: adds nothing.
 */
json_object *json_add_names(json_object *value, struct short_names *names);

/* Makes the names of all cgroups of a snapshot, with or without slot. Returns 0 or -ENOMEM. */
int json_names_new(const struct snapshot *snapshot, struct short_names **ret);

/*
 * Adds the cgroups of a later snapshot. Names of removed cgroups stay. Sets `*ret_longer` if one was removed for which
 * others may have longer names (short_names_add_removed()). Returns 0 or -ENOMEM.
 */
int json_names_add(const struct snapshot *snapshot, struct short_names *names, bool *ret_longer);

#endif
