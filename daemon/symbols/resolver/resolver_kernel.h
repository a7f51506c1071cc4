// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own names and its modules', by /proc/kallsyms (kernel/kallsyms.c). Whether it shows addresses
 * is decided when it is opened: the descriptor keeps the right to read it again.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_KERNEL_H
#define PEBSD_SYMBOLS_RESOLVER_KERNEL_H

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

#define KERNEL_SYMBOLS_MAX (4U << 20)
#define KERNEL_NAMES_MAX   (256UL << 20) /* bytes */

/* Symbols are of their own module until the next one, but no farther than this. */
#define KERNEL_SYMBOL_REACH 65536ULL

struct kernel_symbol {
	u64 start;
	u32 name;   /* where it begins in the names */
	u32 module; /* likewise; 0: the kernel itself */
	bool code;
};

struct kernel_symbols {
	struct kernel_symbol *symbols; /* by `start` */
	size_t n, room;
	char *names; /* an empty one first */
	size_t names_size, names_room;
	u64 text, end; /* the kernel's image, 0: not known */
	bool hidden;   /* there are symbols, and all their addresses are 0 */
};

/* From where `file` stands. 0, -ENOMEM, -errno of reading; lines that are none are passed over. */
int kernel_symbols_read(FILE *file, struct kernel_symbols *ret);
void kernel_symbols_done(struct kernel_symbols *symbols);

/* NULL: not known. Data is found as data only, code as code. */
const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols, u64 address,
						enum symbol_kind kind);

/* Where the module of a symbol, or the kernel's image, begins. */
u64 kernel_symbols_base(const struct kernel_symbols *symbols, const struct kernel_symbol *symbol);

u64 kernel_symbols_bytes(const struct kernel_symbols *symbols);

#endif
