// SPDX-License-Identifier: GPL-2.0
#include "ctl/from_base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* -1: not a digit. */
static int value_of(char digit)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = digit ? strchr(digits, digit) : NULL;

	return at ? (int)(at - digits) : -1;
}

int from_base64(const char *text, u8 **ret, size_t *ret_size)
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
		size_t digits = i + 4 == length ? 4 - padding : 4;
		u32 word = 0;

		for (size_t j = 0; j < 4; j++) {
			int value = j < digits ? value_of(text[i + j]) : 0;

			if (value < 0) {
				free(bytes);
				return -EBADMSG;
			}
			word = word << 6 | (u32)value;
		}
		/* Bits that stand for nothing are 0: each value has one spelling. */
		if (word & ((1U << 8 * (4 - digits)) - 1)) {
			free(bytes);
			return -EBADMSG;
		}
		for (size_t j = 0; j + 1 < digits; j++)
			bytes[size++] = (u8)(word >> (16 - 8 * j));
	}
	*ret = bytes;
	*ret_size = size;
	return 0;
}
