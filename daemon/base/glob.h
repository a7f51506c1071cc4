// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns for cgroup paths. `*` matches any bytes except `/`, `**` matches any bytes, and `?` matches one
 * byte other than `/`. Every other byte matches itself, also the backslash, which systemd writes into names
 * (`\x2d`). Pure functions.
 */
#ifndef PEBSD_GLOB_H
#define PEBSD_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/*
 * The longest pattern. glob_match() returns false for a longer one, so the code that reads patterns must
 * check the length.
 */
#define GLOB_PATTERN_MAX 255

/*
 * Returns whether `pattern` matches the whole `path`. Compiles the pattern first: use glob_compile() for many paths.
 */
bool glob_match(const char *pattern, const char *path);

/* A set of places in a pattern, one bit for each. Each byte, or run of stars, is a place. The last one is the end. */
#define GLOB_WORDS ((GLOB_PATTERN_MAX + 1 + 63) / 64)

struct glob_places {
	u64 words[GLOB_WORDS];
};

/* A pattern that is matched against many paths. Takes 9 KB. */
struct glob {
	size_t n_words, end; /* `end`: the place at the end of the pattern */
	struct glob_places stars, crossing;
	u8 classes[256]; /* by byte: its index in `taken`; bytes that no place names share one */
	struct glob_places taken[256]; /* places whose byte of the pattern matches a byte of the class */
};

/* Returns 0, or -EINVAL if the pattern is too long. */
int glob_compile(const char *pattern, struct glob *ret);

/*
 * Matches a path part by part, which is cheaper for paths that begin alike: copy `places` where they part.
 * glob_begin() is for an empty path, and glob_read() adds the `length` bytes of `text` to it. glob_accepts()
 * returns whether the pattern matches the whole path so far.
 *
 * A byte takes the same few steps for each 64 places, whatever the pattern is: all places that the path can
 * have reached are followed at the same time.
 */
void glob_begin(const struct glob *glob, struct glob_places *ret);
void glob_read(const struct glob *glob, struct glob_places *places, const char *text, size_t length);
bool glob_accepts(const struct glob *glob, const struct glob_places *places);

#endif
