// SPDX-License-Identifier: GPL-2.0
/*
 * Matches cgroups against a list of patterns: those of `include` and `exclude`, and those of a rule. Pure
 * functions.
 */
#ifndef PEBSD_CGROUP_PATTERN_H
#define PEBSD_CGROUP_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether one of the patterns (base/glob.h) matches the path. A name that is not below the root
 * ("comm:NAME", "cgroup:ID" of a replay, "model:WORKLOAD") is also matched as if it were a child of the root.
 */
bool cgroup_patterns_match(char *const *patterns, size_t n, const char *path);

#endif
