// SPDX-License-Identifier: GPL-2.0
/*
 * Source lines and inlined functions by DWARF, of a file made by anybody, by libdw. Only what the file itself
 * holds (and a supplementary file that is given) is read: libdw is left no reason to look for another one.
 * What takes longer than its limits is given up, and has no lines then.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_DWARF_H
#define PEBSD_SYMBOLS_RESOLVER_DWARF_H

#include "symbols/resolver/resolver_elf.h"

/* CPU time for the list of a file's units, and for one address, ns. */
#define DWARF_UNITS_NS 3000000000ULL
#define DWARF_FIND_NS  500000000ULL

#define DWARF_UNITS_MAX      (1U << 18)
#define DWARF_FUNCTIONS_MAX  (1U << 21) /* of a unit, with their pieces */
#define DWARF_LINE_BYTES_MAX (8U << 20) /* of a unit's line program */

struct dwarf_file;

/*
 * `file` stays the caller's and has to live longer. `supplementary` is the file that .gnu_debugaltlink names,
 * NULL: not found. 0; -ENODATA where there is nothing to read or it is too much; -ENOMEM.
 */
int dwarf_file_new(struct elf_file *file, struct elf_file *supplementary, struct dwarf_file **ret);
struct dwarf_file *dwarf_file_free(struct dwarf_file *dwarf);
DEFINE_CLEANUP(struct dwarf_file *, dwarf_file_free)

/*
 * The frames of a code address: inlined functions, innermost first, and then the one that they are in, with
 * `name` (of the symbol table; NULL: DWARF's) and `offset`. 0 with *n_frames 0 where nothing is known, or
 * -ENOMEM. The frames are as in struct symbol.
 */
int dwarf_file_find(struct dwarf_file *dwarf, u64 address, const char *name, u64 offset, struct symbol *ret);

/* Bytes that it holds, about. */
u64 dwarf_file_bytes(const struct dwarf_file *dwarf);

#endif
