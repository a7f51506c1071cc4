// SPDX-License-Identifier: GPL-2.0
#include "export/label.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pebsd/types.h"

/* What one byte becomes at most: U+FFFD in UTF-8 and two digits. */
#define ESCAPED_MAX 5
#define REPLACEMENT "\xef\xbf\xbd"

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Length of the UTF-8 character at `text` (RFC 3629, NUL-terminated), 0 where there is none. */
static size_t character_length(const unsigned char *text)
{
	static const u32 smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length;
	u32 character;

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
	return character >= 0xd800 && character <= 0xdfff ? 0 : length;
}

int label_escape(const char *value, char **ret)
{
	const unsigned char *from = (const unsigned char *)value;
	char *escaped, *to;

	escaped = to = calloc(strlen(value) + 1, ESCAPED_MAX);
	if (!escaped)
		return -ENOMEM;
	while (*from) {
		size_t length = character_length(from);

		if (length == 0 || strncmp((const char *)from, REPLACEMENT, strlen(REPLACEMENT)) == 0) {
			to += sprintf(to, REPLACEMENT "%02x", *from++);
			while (is_continuation(*from) && length-- > 1)
				to += sprintf(to, REPLACEMENT "%02x", *from++);
			continue;
		}
		if (*from == '\\' || *from == '"' || *from == '\n')
			*to++ = '\\';
		if (*from == '\n') {
			*to++ = 'n';
			from++;
			continue;
		}
		memcpy(to, from, length);
		to += length;
		from += length;
	}
	*ret = escaped;
	return 0;
}
