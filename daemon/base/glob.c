// SPDX-License-Identifier: GPL-2.0
#include "base/glob.h"

#include <stddef.h>
#include <string.h>

/*
 * The places of the pattern that can be reached after the bytes read so far are all followed at once, in the
 * place of trying one and going back: that is what bounds the time. Place `n` is the end.
 *
 * A star takes no byte to pass: from its place the next one is reached at once.
 */
static void add_place(bool *places, const char *pattern, size_t at)
{
	places[at] = true;
	/* A place that is there already has brought those behind it. */
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
				/* The second star of `**` is the one that may take a `/`. */
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
