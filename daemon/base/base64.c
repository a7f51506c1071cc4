// SPDX-License-Identifier: GPL-2.0
#include "base/base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PADDING 64
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

char *base64_encode(const u8 *bytes, size_t size)
{
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
		*at++ = digits[left > 1 ? word >> 6 & 63 : PADDING];
		*at++ = digits[left > 2 ? word & 63 : PADDING];
	}
	*at = '\0';
	return text;
}

/* Returns -1 if `digit` is not a base64 digit. */
static int value_of(char digit)
{
	const char *at = digit ? strchr(digits, digit) : NULL;

	return at && at < digits + PADDING ? (int)(at - digits) : -1;
}

int base64_decode(const char *text, u8 **ret, size_t *ret_size)
{
	size_t length = strlen(text), padding = 0, size = 0;
	u8 *bytes;

	if (length % 4 != 0)
		return -EBADMSG;
	while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
		padding++;
	bytes = malloc(length / 4 * 3 + 1);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < length; i += 4) {
		size_t n = i + 4 == length ? 4 - padding : 4;
		u32 word = 0;

		for (size_t j = 0; j < 4; j++) {
			int value = j < n ? value_of(text[i + j]) : 0;

			if (value < 0) {
				free(bytes);
				return -EBADMSG;
			}
			word = word << 6 | (u32)value;
		}
		/* Unused bits must be 0, so that each value has exactly one spelling. */
		if (word & ((1U << 8 * (4 - n)) - 1)) {
			free(bytes);
			return -EBADMSG;
		}
		for (size_t j = 0; j + 1 < n; j++)
			bytes[size++] = (u8)(word >> (16 - 8 * j));
	}
	*ret = bytes;
	*ret_size = size;
	return 0;
}
