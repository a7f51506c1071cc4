// SPDX-License-Identifier: GPL-2.0
/*
 * The names of cgroups: a tree of one component each, by id, from which whole paths are built. The kernel
 * tells a birth as (id, parent, component), because paths from its tracepoint are cut at 1,023 bytes. Pure.
 *
 * What was never told is shown as "cgroup:ID": "/a/cgroup:7" where only the component is unknown, and
 * "cgroup:7/b" where the place is: a path that does not begin with "/" is not one below the root.
 *
 * A cgroup whose path takes PATH_MAX bytes or more as it is shown (utf8.h) is "cgroup:ID", too. The kernel names
 * no path of that length (/proc/PID/cgroup). The paths of a chain of nested cgroups would take memory by the
 * square of its length. And servers that limit labels to 4,096 bytes, as config/prometheus does, would refuse
 * all metrics.
 */
#ifndef PEBSD_CGROUP_NAMES_H
#define PEBSD_CGROUP_NAMES_H

#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

struct names;

/* Holds at most `max` names. Returns 0 or -ENOMEM. */
int names_new(size_t max, struct names **ret);
struct names *names_free(struct names *names);

DEFINE_CLEANUP(struct names *, names_free)

/*
 * A cgroup was born or found. `parent_id` 0: it is the root, whatever its component. The parent may be told
 * later, but before it is removed: add a collection's births before its deaths. An empty component: its name
 * could not be read. Told again, nothing changes but what was unknown; an id with another parent or component
 * than before is another cgroup, and what hangs on the old one stays there.
 * Returns 0; -EINVAL for a component that is none ("/" in it, ".", ".."), for id 0, or for a cgroup below
 * itself; -ENAMETOOLONG above NAME_MAX; -ENOSPC where all names are in use; -ENOMEM. Failing changes nothing.
 */
int names_add(struct names *names, u64 id, u64 parent_id, const char *component);

/*
 * One whose whole path or name is told at once: a recording's cgroup, or its "comm:NAME". It has no parent.
 * Returns as names_add(); -EINVAL for "".
 */
int names_add_path(struct names *names, u64 id, const char *path);

/*
 * The cgroup was removed and its last figures are read. Its name is kept as long as a cgroup below it has
 * one. An id that is not known is ignored.
 */
void names_remove(struct names *names, u64 id);

/*
 * The whole path of `id`, "/" for the root, also while it is only kept for those below. Returns 1 where all
 * of it is known, 0 where "cgroup:ID" had to stand for a part of it or for all (not a name here, or a path
 * that is too long), or -ENOMEM. `*ret` is the caller's to free.
 */
int names_path(const struct names *names, u64 id, char **ret);

/* How many are held: added, or kept or awaited because of what lies below. At most the `max` given. */
size_t names_count(const struct names *names);

#endif
