// SPDX-License-Identifier: GPL-2.0
#include "base/glob.h"

#include <stddef.h>
#include <string.h>

#include "pebsd/types.h"

#define WORD_BITS 64
#define WORDS     ((GLOB_PATTERN_MAX + 1 + WORD_BITS - 1) / WORD_BITS)

/*
 * All places of the pattern that the bytes read so far can reach. They are followed at the same time, instead
 * of trying one and backtracking, which bounds the run time. Place `n` is the end of the pattern. Few places
 * are reachable at a time, so each place is a bit, and only set bits are visited.
 */
struct places {
	u64 words[WORDS];
};

static bool has_place(const struct places *places, size_t at)
{
	return places->words[at / WORD_BITS] >> at % WORD_BITS & 1;
}

/* A star may match nothing, so reaching a star also reaches the place after it. */
static void add_place(struct places *places, const char *pattern, size_t at)
{
	places->words[at / WORD_BITS] |= 1ULL << at % WORD_BITS;
	/* If the next place is set already, the places after it are set, too. */
	while (pattern[at] == '*' && !has_place(places, at + 1)) {
		at++;
		places->words[at / WORD_BITS] |= 1ULL << at % WORD_BITS;
	}
}

/* Only the second star of `**` may match a `/`. */
static bool crosses(const char *pattern, size_t at)
{
	return at > 0 && pattern[at] == '*' && pattern[at - 1] == '*';
}

static void step(struct places *next, const char *pattern, size_t at, char byte)
{
	if (pattern[at] == '*') {
		if (byte != '/' || crosses(pattern, at))
			add_place(next, pattern, at);
	} else if (pattern[at] == byte || (pattern[at] == '?' && byte != '/')) {
		add_place(next, pattern, at + 1);
	}
}

bool glob_match(const char *pattern, const char *path)
{
	const size_t n = strlen(pattern);
	const size_t n_words = n / WORD_BITS + 1;
	struct places now = {0};

	if (n > GLOB_PATTERN_MAX)
		return false;

	add_place(&now, pattern, 0);
	for (; *path; path++) {
		struct places next = {0};
		bool any = false;

		/* The `**` at the end of the pattern matches the rest of the path. */
		if (n > 0 && crosses(pattern, n - 1) && has_place(&now, n - 1))
			return true;
		for (size_t word = 0; word < n_words; word++)
			for (u64 left = now.words[word]; left; left &= left - 1)
				step(&next, pattern, word * WORD_BITS + (size_t)__builtin_ctzll(left), *path);
		for (size_t word = 0; word < n_words; word++)
			any |= next.words[word] != 0;
		if (!any)
			return false;
		now = next;
	}
	return has_place(&now, n);
}
