// SPDX-License-Identifier: GPL-2.0
/* Bytes as text (RFC 4648, section 4): with padding, without line breaks. Pure. */
#ifndef PEBSD_BASE64_H
#define PEBSD_BASE64_H

#include <stddef.h>

#include "pebsd/types.h"

/* The caller frees; NULL: no memory. */
char *base64_encode(const u8 *bytes, size_t size);

/* The bytes of such a text. The caller frees `*ret`. 0; -EBADMSG where it is none; -ENOMEM. */
int base64_decode(const char *text, u8 **ret, size_t *ret_size);

#endif
