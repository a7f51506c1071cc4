// SPDX-License-Identifier: GPL-2.0
/*
 * The names of cgroups: a tree with one component for each id, from which whole paths are built. The kernel
 * reports a birth as (id, parent, component), because paths from its tracepoint are cut at 1,023 bytes. Pure:
 * no system call.
 *
 * A name that was never reported is shown as "cgroup:ID": "/a/cgroup:7" if only the component is unknown, and
 * "cgroup:7/b" if its place in the tree is unknown. A path that does not begin with "/" is thus not below the
 * root.
 *
 * A cgroup is also called "cgroup:ID" if its path takes PATH_MAX bytes or more as it is shown (utf8.h), for three
 * reasons. The kernel names no path of that length (/proc/PID/cgroup). The paths of a chain of nested cgroups
 * would take memory that grows with the square of the chain's length. Servers that limit labels to 4,096 bytes, as
 * config/prometheus does, would refuse all metrics.
 */
#ifndef PEBSD_CGROUP_NAMES_H
#define PEBSD_CGROUP_NAMES_H

#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

struct names;

/* Limit of the memory of one name of at most NAME_MAX bytes, including the allocator's overhead. */
#define NAMES_EACH_BYTES 512UL

/* Holds at most `max` names. Returns 0 or -ENOMEM. */
int names_new(size_t max, struct names **ret);
struct names *names_free(struct names *names);

DEFINE_CLEANUP(struct names *, names_free)

/*
 * Adds a cgroup that was born or found. `parent_id` 0: the cgroup is the root, and `component` is ignored. The
 * parent may be added after the child, but before the parent itself is removed: add a collection's births
 * before its deaths. An empty component means that the name could not be read. Adding the same cgroup again only
 * fills in what was unknown. If the id comes with another parent or component than before, it belongs to a new
 * cgroup, and the children of the old cgroup stay below the old one.
 *
 * Returns 0. Errors change nothing: -EINVAL for an invalid component ("/" in it, ".", ".."), for id 0, or for
 * a cgroup below itself; -ENAMETOOLONG above NAME_MAX; -ENOSPC if all names are in use; -ENOMEM.
 */
int names_add(struct names *names, u64 id, u64 parent_id, const char *component);

/*
 * Adds a cgroup of a recording by its whole path, or by a name such as "comm:NAME". The cgroup has no parent.
 * Returns the same errors as names_add(), and -EINVAL for "".
 */
int names_add_path(struct names *names, u64 id, const char *path);

/*
 * Call this when the cgroup was removed and its last counters are read. Its name is kept as long as a cgroup
 * below it has a name. An unknown id is ignored.
 */
void names_remove(struct names *names, u64 id);

/*
 * Builds the whole path of `id`, "/" for the root. This also works while the name is only kept for the cgroups
 * below it. Returns 1 if the whole path is known. Returns 0 if "cgroup:ID" stands for the path or for a part of
 * it, because the id has no name here or the path is too long. Returns -ENOMEM if memory ran out. The caller frees
 * `*ret`.
 */
int names_path(const struct names *names, u64 id, char **ret);

/*
 * Returns the number of names: those that were added, and those that are kept or expected because of the cgroups
 * below them. At most `max`.
 */
size_t names_count(const struct names *names);

#endif
