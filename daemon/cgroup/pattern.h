// SPDX-License-Identifier: GPL-2.0
/* Which cgroups a list of patterns means: of `include` and `exclude`, and of a rule. Pure. */
#ifndef PEBSD_CGROUP_PATTERN_H
#define PEBSD_CGROUP_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether one of the patterns (base/glob.h) matches the path. What is not below the root ("comm:NAME",
 * "cgroup:ID" of a replay, "model:WORKLOAD") is matched as if it were a child of it, too.
 */
bool cgroup_patterns_match(char *const *patterns, size_t n, const char *path);

#endif
