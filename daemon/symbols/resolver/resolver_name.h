// SPDX-License-Identifier: GPL-2.0
/* Names as they stand in files that others made, for people. Pure, and bounded whatever the name is. */
#ifndef PEBSD_SYMBOLS_RESOLVER_NAME_H
#define PEBSD_SYMBOLS_RESOLVER_NAME_H

/* Bytes of a name or path that is shown; longer ones end in an ellipsis. */
#define RESOLVER_NAME_MAX 1024

/*
 * `name` with each byte that is no UTF-8 and each control character as U+FFFD and two hexadecimal digits
 * (base/utf8.h). 0 or -ENOMEM; the caller frees.
 */
int resolver_printable(const char *name, char **ret);

/* The same of a symbol: C++ and Rust demangled first, where it is mangled and comes out with no more than
 * RESOLVER_NAME_MAX bytes. */
int resolver_name(const char *symbol, char **ret);

#endif
