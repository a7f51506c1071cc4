// SPDX-License-Identifier: GPL-2.0
#include "base/base64.h"

#include <stdlib.h>

char *base64_encode(const u8 *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((size + 2) / 3 * 4 + 1);
	char *at = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		u32 word = (u32)bytes[i] << 16 | (left > 1 ? (u32)bytes[i + 1] << 8 : 0) |
			   (left > 2 ? bytes[i + 2] : 0);

		*at++ = digits[word >> 18];
		*at++ = digits[word >> 12 & 63];
		*at++ = left > 1 ? digits[word >> 6 & 63] : '=';
		*at++ = left > 2 ? digits[word & 63] : '=';
	}
	*at = '\0';
	return text;
}
