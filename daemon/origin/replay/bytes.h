// SPDX-License-Identifier: GPL-2.0
/*
 * Reads from bytes of an untrusted source, never beyond their end. Reading beyond the end returns 0 and sets
 * `overrun`. The caller checks that flag once, when it is done.
 */
#ifndef PEBSD_BYTES_H
#define PEBSD_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pebsd/types.h"

struct bytes {
	const u8 *at;
	size_t left;
	bool overrun;
};

/* Returns the next `size` bytes, or NULL. */
static inline const u8 *bytes_take(struct bytes *bytes, u64 size)
{
	const u8 *at = bytes->at;

	if (bytes->overrun || size > bytes->left) {
		bytes->overrun = true;
		return NULL;
	}
	bytes->at += size;
	bytes->left -= (size_t)size;
	return at;
}

/* Skips `n` elements of `size` bytes each. `size` must not be 0. */
static inline void bytes_skip(struct bytes *bytes, u64 n, u64 size)
{
	if (n > bytes->left / size) {
		bytes->overrun = true;
		return;
	}
	(void)bytes_take(bytes, n * size);
}

/* Read a number in the byte order of this machine. */
static inline u64 bytes_u64(struct bytes *bytes)
{
	const u8 *at = bytes_take(bytes, sizeof(u64));
	u64 value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static inline u32 bytes_u32(struct bytes *bytes)
{
	const u8 *at = bytes_take(bytes, sizeof(u32));
	u32 value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

#endif
