// SPDX-License-Identifier: GPL-2.0
/*
 * The names of the kernel and its modules, from /proc/kallsyms (kernel/kallsyms.c). When the file is opened,
 * the kernel decides whether to show addresses. The descriptor therefore stays useful after CAP_SYSLOG is
 * dropped.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_KERNEL_H
#define PEBSD_SYMBOLS_RESOLVER_KERNEL_H

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

#define KERNEL_SYMBOLS_MAX (4U << 20)
#define KERNEL_NAMES_MAX   (256UL << 20) /* bytes */

/*
 * Outside the kernel's image, a symbol extends to the next one of its module only if that is at most this
 * many bytes away.
 */
#define KERNEL_SYMBOL_REACH 65536ULL

struct kernel_symbol {
	u64 start;
	u32 name;   /* offset in `names` */
	u32 module; /* index in `modules`; 0: the kernel itself */
	bool code;
};

struct kernel_module {
	u32 name;  /* offset in `names` */
	u64 start; /* of its first symbol */
};

struct kernel_symbols {
	struct kernel_symbol *symbols; /* sorted by `start` */
	size_t n, room;
	struct kernel_module *modules; /* the first one is the kernel itself, with an empty name */
	size_t n_modules, modules_room;
	char *names;
	size_t names_size, names_room;
	u64 text, end; /* of the kernel's image; 0: not known */
};

/*
 * Reads from the current position of `file`. Ignores invalid lines. Returns 0, -ENOMEM, -E2BIG or the -errno
 * of reading.
 */
int kernel_symbols_read(FILE *file, struct kernel_symbols *ret);
void kernel_symbols_done(struct kernel_symbols *symbols);

/* Returns NULL if not known. Data addresses only find data, and code addresses only code. */
const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols, u64 address,
						enum symbol_kind kind);

/* Returns the name of the symbol's module; "": the kernel itself. */
const char *kernel_symbols_module(const struct kernel_symbols *symbols, const struct kernel_symbol *symbol);

/* Returns the start of the symbol's module or of the kernel's image. */
u64 kernel_symbols_base(const struct kernel_symbols *symbols, const struct kernel_symbol *symbol);

u64 kernel_symbols_bytes(const struct kernel_symbols *symbols);

#endif
