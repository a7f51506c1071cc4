// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers in as few bytes as they need: 7 bits per byte, low bits first, with the high bit set in all bytes
 * but the last.
 */
#ifndef PEBSD_VARINT_H
#define PEBSD_VARINT_H

#include "pebsd/types.h"

#define VARINT_MAX 10 /* bytes of a 64-bit number */

static inline u8 *put_varint(u8 *to, u64 value)
{
	for (; value >> 7; value >>= 7)
		*to++ = (u8)(value | 0x80);
	*to++ = (u8)value;
	return to;
}

/* `from` must have been written by put_varint(). */
static inline const u8 *get_varint(const u8 *from, u64 *ret)
{
	u64 value = 0;

	for (unsigned shift = 0;; shift += 7) {
		value |= (u64)(*from & 0x7f) << shift;
		if (!(*from++ & 0x80))
			break;
	}
	*ret = value;
	return from;
}

#endif
