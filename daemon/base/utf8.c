// SPDX-License-Identifier: GPL-2.0
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pebsd/types.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Longest form of one byte: U+FFFD and two digits. An unchanged character is not longer. */
#define SHOWN_MAX 5

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/*
 * Returns the length of the UTF-8 character (RFC 3629) at `name`, which is NUL-terminated, or 0 if there is
 * none.
 */
static size_t encoded_length(const char *name, u32 *ret_character)
{
	static const u32 smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *text = (const unsigned char *)name;
	size_t length;
	u32 character;

	*ret_character = text[0];
	if (text[0] < 0x80)
		return 1;
	if ((text[0] & 0xe0) == 0xc0)
		length = 2;
	else if ((text[0] & 0xf0) == 0xe0)
		length = 3;
	else if ((text[0] & 0xf8) == 0xf0)
		length = 4;
	else
		return 0;
	character = text[0] & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		if (!is_continuation(text[i]))
			return 0;
		character = character << 6 | (text[i] & 0x3f);
	}
	if (character < smallest[length] || character > 0x10ffff)
		return 0;
	if (character >= 0xd800 && character <= 0xdfff)
		return 0;
	*ret_character = character;
	return length;
}

/* Returns the length of the character at `name`, or 0 if it is a noncharacter or not UTF-8. */
static size_t character_length(const char *name)
{
	u32 character;
	size_t length = encoded_length(name, &character);

	/*
	 * Noncharacters are refused: systemd treats a file with one of them as not UTF-8, and reads nothing
	 * of it.
	 */
	if ((character >= 0xfdd0 && character <= 0xfdef) || (character & 0xfffe) == 0xfffe)
		return 0;
	return length;
}

/*
 * Writes the shown form of the first character or byte of `*name`, and moves `*name` past it. Returns its
 * length.
 */
static size_t show_next(const char **name, char ret[SHOWN_MAX + 1])
{
	size_t length = character_length(*name);

	/*
	 * The second and third byte of a U+FFFD are not characters, so the next calls write them in the same
	 * form.
	 */
	if (length == 0 || strncmp(*name, REPLACEMENT, strlen(REPLACEMENT)) == 0)
		return (size_t)sprintf(ret, REPLACEMENT "%02x", (unsigned char)*(*name)++);
	memcpy(ret, *name, length);
	*name += length;
	return length;
}

int utf8_show(const char *name, char **ret)
{
	char *shown = calloc(strlen(name) + 1, SHOWN_MAX);
	char *to = shown;

	if (!shown)
		return -ENOMEM;
	while (*name) {
		char next[SHOWN_MAX + 1];
		size_t length = show_next(&name, next);

		memcpy(to, next, length);
		to += length;
	}
	*ret = shown;
	return 0;
}

size_t utf8_shown_length(const char *name)
{
	char next[SHOWN_MAX + 1];
	size_t length = 0;

	while (*name)
		length += show_next(&name, next);
	return length;
}

bool utf8_part_is_shown_as(const char *text, size_t length, const char *shown)
{
	const char *end = text + length;

	while (text < end) {
		char next[SHOWN_MAX + 1];
		size_t n = show_next(&text, next);

		if (strncmp(next, shown, n) != 0)
			return false;
		shown += n;
	}
	return !*shown;
}

bool utf8_is_shown_as(const char *text, const char *shown)
{
	return utf8_part_is_shown_as(text, strlen(text), shown);
}

/* Returns whether the character of `length` bytes at `text` may stay. A length of 0 is not a character. */
static bool is_plain(const unsigned char *text, size_t length)
{
	if (length == 1)
		return text[0] >= ' ' && text[0] != 0x7f;
	if (length == 2)
		return text[0] != 0xc2 || text[1] >= 0xa0;
	if (length != 3 || text[0] != 0xe2)
		return length != 0;
	return !(text[1] == 0x80 && text[2] >= 0xa8 && text[2] <= 0xae) &&
	       !(text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9);
}

void utf8_make_plain(char *text)
{
	while (*text) {
		size_t length = character_length(text);

		if (is_plain((const unsigned char *)text, length)) {
			text += length;
			continue;
		}
		for (size_t i = 0; i < length || i == 0; i++)
			*text++ = '?';
	}
}

bool utf8_is_valid(const char *text)
{
	while (*text) {
		size_t length = character_length(text);

		if (length == 0)
			return false;
		text += length;
	}
	return true;
}

bool utf8_is_encoded(const char *text)
{
	while (*text) {
		u32 character;
		size_t length = encoded_length(text, &character);

		if (length == 0)
			return false;
		text += length;
	}
	return true;
}
