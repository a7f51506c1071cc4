// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns for cgroup paths. `*` matches any bytes except `/`, `**` matches any bytes, and `?` matches one
 * byte other than `/`. Every other byte matches itself, also the backslash, which systemd writes into names
 * (`\x2d`). Pure function.
 */
#ifndef PEBSD_GLOB_H
#define PEBSD_GLOB_H

#include <stdbool.h>

/*
 * The longest pattern. glob_match() returns false for a longer one, so the code that reads patterns must
 * check the length.
 */
#define GLOB_PATTERN_MAX 255

/*
 * Returns whether `pattern` matches the whole `path`. Takes at most strlen(pattern) + 1 steps for each byte
 * of `path`.
 */
bool glob_match(const char *pattern, const char *path);

#endif
