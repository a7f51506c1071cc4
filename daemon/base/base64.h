// SPDX-License-Identifier: GPL-2.0
/* Base64 (RFC 4648, section 4) with padding and without line breaks. Pure functions. */
#ifndef PEBSD_BASE64_H
#define PEBSD_BASE64_H

#include <stddef.h>

#include "pebsd/types.h"

/* Returns the encoded text, which the caller frees, or NULL if memory runs out. */
char *base64_encode(const u8 *bytes, size_t size);

/* Decodes `text`. The caller frees `*ret`. Returns 0, -EBADMSG if `text` is not valid base64, or -ENOMEM. */
int base64_decode(const char *text, u8 **ret, size_t *ret_size);

#endif
