// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns over cgroup paths: `*` stands for any bytes but `/`, `**` for any bytes, `?` for one byte that is
 * not `/`. Everything else stands for itself, the backslash too: systemd writes it in names (`\x2d`). Pure.
 */
#ifndef PEBSD_GLOB_H
#define PEBSD_GLOB_H

#include <stdbool.h>

/* The longest pattern; glob_match() says false for a longer one, so whoever reads patterns checks for it. */
#define GLOB_PATTERN_MAX 255

/*
 * Whether `pattern` matches the whole of `path`. Takes at most strlen(pattern) * strlen(path) steps, whatever
 * the two are.
 */
bool glob_match(const char *pattern, const char *path);

#endif
