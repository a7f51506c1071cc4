// SPDX-License-Identifier: GPL-2.0
/* Numbers in as few bytes as they need: 7 bits a byte, low ones first, the high bit set in all but the last.
 */
#ifndef PEBSD_VARINT_H
#define PEBSD_VARINT_H

#include "pebsd/types.h"

#define VARINT_MAX 10 /* bytes of 64 bits */

static inline u8 *put_varint(u8 *to, u64 value)
{
	for (; value >> 7; value >>= 7)
		*to++ = (u8)(value | 0x80);
	*to++ = (u8)value;
	return to;
}

/* `from` was written by put_varint(). */
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
