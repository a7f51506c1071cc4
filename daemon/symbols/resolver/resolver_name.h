// SPDX-License-Identifier: GPL-2.0
/* Makes names from untrusted files printable. Pure. The result is bounded for any name. */
#ifndef PEBSD_SYMBOLS_RESOLVER_NAME_H
#define PEBSD_SYMBOLS_RESOLVER_NAME_H

#include "symbols/shared/symbol.h"

/* Maximum bytes of a name or path that are shown. Longer ones end in an ellipsis. */
#define RESOLVER_NAME_MAX 1024

/*
 * Replaces each byte that is invalid UTF-8, and each control character, with U+FFFD and two hexadecimal
 * digits (base/utf8.h). Returns 0 or -ENOMEM. The caller frees `ret`.
 */
int resolver_printable(const char *name, char **ret);

/*
 * Same as resolver_printable(), for a symbol. First demangles C++ and Rust, unless the result would exceed
 * RESOLVER_NAME_MAX bytes.
 */
int resolver_name(const char *symbol, char **ret);

/* Gives a symbol without frames one frame, with the result of resolver_name(). Returns 0 or -ENOMEM. */
int resolver_name_symbol(const char *name, u64 offset, struct symbol *ret);

#endif
