// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_CTL_FROM_BASE64_H
#define PEBSD_CTL_FROM_BASE64_H

#include <stddef.h>

#include "pebsd/types.h"

/*
 * The bytes of a text in base64 (RFC 4648, 4: with padding, without line breaks). The caller frees `*ret`.
 * 0; -EBADMSG where it is none; -ENOMEM.
 */
int from_base64(const char *text, u8 **ret, size_t *ret_size);

#endif
