// SPDX-License-Identifier: GPL-2.0
#include "base/glob.h"

#include <errno.h>
#include <string.h>

#define WORD_BITS 64

enum {
	CLASS_OTHER, /* bytes that the pattern does not name */
	CLASS_SLASH,
	CLASS_FIRST, /* of the bytes that the pattern names */
};

static void add_place(struct glob_places *places, size_t at)
{
	places->words[at / WORD_BITS] |= 1ULL << at % WORD_BITS;
}

static bool has_place(const struct glob_places *places, size_t at)
{
	return places->words[at / WORD_BITS] >> at % WORD_BITS & 1;
}

/* A star may match nothing, so a path that has reached a star has also reached the place after it. */
static void pass_stars(const struct glob *glob, struct glob_places *places)
{
	u64 carry = 0;

	/* No star is next to another: glob_compile() makes one of them. */
	for (size_t i = 0; i < glob->n_words; i++) {
		u64 reached = places->words[i] & glob->stars.words[i];

		places->words[i] |= reached << 1 | carry;
		carry = reached >> (WORD_BITS - 1);
	}
}

static u8 class_of(struct glob *glob, unsigned char byte, size_t *n)
{
	if (byte != '/' && glob->classes[byte] == CLASS_OTHER) {
		glob->classes[byte] = (u8)*n;
		glob->taken[(*n)++] = (struct glob_places){0};
	}
	return glob->classes[byte];
}

int glob_compile(const char *pattern, struct glob *ret)
{
	struct glob_places any = {0}; /* places of question marks */
	size_t n = CLASS_FIRST, at = 0;

	if (strlen(pattern) > GLOB_PATTERN_MAX)
		return -EINVAL;
	ret->stars = ret->crossing = ret->taken[CLASS_OTHER] = ret->taken[CLASS_SLASH] = any;
	memset(ret->classes, CLASS_OTHER, sizeof(ret->classes));
	ret->classes['/'] = CLASS_SLASH;
	for (const char *byte = pattern; *byte; byte++, at++) {
		if (*byte == '*') {
			add_place(&ret->stars, at);
			/* Two or more stars together match what one matches that may also match a slash. */
			if (byte[1] == '*')
				add_place(&ret->crossing, at);
			while (byte[1] == '*')
				byte++;
		} else if (*byte == '?') {
			add_place(&any, at);
		} else {
			add_place(&ret->taken[class_of(ret, (unsigned char)*byte, &n)], at);
		}
	}
	ret->end = at;
	ret->n_words = at / WORD_BITS + 1;
	for (size_t nth = 0; nth < n; nth++)
		for (size_t i = 0; nth != CLASS_SLASH && i < ret->n_words; i++)
			ret->taken[nth].words[i] |= any.words[i];
	return 0;
}

void glob_begin(const struct glob *glob, struct glob_places *ret)
{
	*ret = (struct glob_places){.words[0] = 1};
	pass_stars(glob, ret);
}

/* Returns false if the path has reached no place: nothing that follows can make it match. */
static bool read_byte(const struct glob *glob, struct glob_places *places, unsigned char byte)
{
	const struct glob_places *taken = &glob->taken[glob->classes[byte]];
	const struct glob_places *stay = byte == '/' ? &glob->crossing : &glob->stars;
	u64 carry = 0, any = 0;

	for (size_t i = 0; i < glob->n_words; i++) {
		u64 moved = places->words[i] & taken->words[i];

		places->words[i] = (places->words[i] & stay->words[i]) | moved << 1 | carry;
		carry = moved >> (WORD_BITS - 1);
		any |= places->words[i];
	}
	pass_stars(glob, places);
	return any != 0;
}

/* Returns true if the pattern matches however the path goes on: it ends with `**`, and that place is reached. */
static bool is_decided(const struct glob *glob, const struct glob_places *places)
{
	return glob->end > 0 && has_place(&glob->crossing, glob->end - 1) && has_place(places, glob->end - 1);
}

void glob_read(const struct glob *glob, struct glob_places *places, const char *text, size_t length)
{
	for (size_t i = 0; i < length && !is_decided(glob, places); i++)
		if (!read_byte(glob, places, (unsigned char)text[i]))
			return;
}

bool glob_accepts(const struct glob *glob, const struct glob_places *places)
{
	return has_place(places, glob->end);
}

bool glob_match(const char *pattern, const char *path)
{
	struct glob_places places;
	struct glob glob;

	if (glob_compile(pattern, &glob) < 0)
		return false;
	glob_begin(&glob, &places);
	glob_read(&glob, &places, path, strlen(path));
	return glob_accepts(&glob, &places);
}
