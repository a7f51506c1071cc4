// SPDX-License-Identifier: GPL-2.0
#include "base/glob.h"

#include <stddef.h>
#include <string.h>

/*
 * Follows all places of the pattern that the bytes read so far can reach at the same time, instead of trying
 * one and backtracking. That bounds the run time. Place `n` is the end of the pattern.
 *
 * A star may match nothing, so reaching a star also reaches the place behind it.
 */
static void add_place(bool *places, const char *pattern, size_t at)
{
	places[at] = true;
	/* If the next place is set already, the places behind it are set, too. */
	while (pattern[at] == '*' && !places[at + 1])
		places[++at] = true;
}

bool glob_match(const char *pattern, const char *path)
{
	bool now[GLOB_PATTERN_MAX + 1] = {false};
	size_t n = strlen(pattern);

	if (n > GLOB_PATTERN_MAX)
		return false;

	add_place(now, pattern, 0);
	for (; *path; path++) {
		bool next[GLOB_PATTERN_MAX + 1] = {false};
		bool any = false;

		for (size_t i = 0; i < n; i++) {
			bool crosses = i > 0 && pattern[i] == '*' && pattern[i - 1] == '*';

			if (!now[i])
				continue;
			if (pattern[i] == '*') {
				/* Only the second star of `**` may match a `/`. */
				if (*path == '/' && !crosses)
					continue;
				add_place(next, pattern, i);
			} else if (pattern[i] == *path || (pattern[i] == '?' && *path != '/')) {
				add_place(next, pattern, i + 1);
			} else {
				continue;
			}
			any = true;
		}
		if (!any)
			return false;
		memcpy(now, next, n + 1);
	}
	return now[n];
}
