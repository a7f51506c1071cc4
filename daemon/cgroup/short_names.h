// SPDX-License-Identifier: GPL-2.0
/*
 * Short names (short_name.h) of many cgroups, no two of which have the same name. If several cgroups would have one
 * name, each of them gets a longer one. A removed cgroup never makes the name of a present one longer. The cost is
 * O(log n) for a cgroup.
 */
#ifndef PEBSD_SHORT_NAMES_H
#define PEBSD_SHORT_NAMES_H

#include "base/cleanup.h"
#include "cgroup/container_label.h"

struct short_names;

/*
 * Returns 0 or -ENOMEM. Free it with short_names_free(). `lookup` finds the labels while cgroups are added. Only
 * the labels of `labels`, bits 1 << enum container_label, and those that the path contains are used. NULL: only
 * the path is known.
 */
int short_names_new(const struct container_lookup *lookup, unsigned int labels, struct short_names **ret);
struct short_names *short_names_free(struct short_names *names);
DEFINE_CLEANUP(struct short_names *, short_names_free)

/*
 * Adds a cgroup, and with `sampled` false only one that contains others: it has a name, but no samples. Also adds
 * the cgroups above it in this way. A known cgroup stays as it is, but may become sampled. Returns 0 or -ENOMEM.
 */
int short_names_add(struct short_names *names, const char *path, bool sampled);

/*
 * Adds a removed cgroup, or marks a known one as removed, until short_names_add() adds its path again. Sets
 * `*ret_longer` if the cgroup was present and has a longer name: another cgroup may then have a longer name than it
 * needs until the names are made again. Returns 0 or -ENOMEM.
 */
int short_names_add_removed(struct short_names *names, const char *path, bool *ret_longer);

/*
 * Returns the name of the cgroup whose path has the shown form `shown` (base/utf8.h), also in its shown form, and
 * adds the cgroup, as a removed one, if it is not known. The name may become longer when another cgroup is added, and
 * stays readable until short_names_free(). NULL: no memory.
 */
const char *short_names_find(struct short_names *names, const char *shown);

/* Returns the shown form of the path that has this name; NULL: none has. `ret_sampled` may be NULL. */
const char *short_names_path(const struct short_names *names, const char *name, bool *ret_sampled);

#endif
