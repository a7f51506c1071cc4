// SPDX-License-Identifier: GPL-2.0
/*
 * Finds source lines and inlined functions in DWARF with libdw. The file is not trusted. Only the file itself
 * and a given supplementary file are read: libdw gets no reason to look for other files. Work that exceeds
 * its limits is given up, and the address then has no lines or no inlined functions.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_DWARF_H
#define PEBSD_SYMBOLS_RESOLVER_DWARF_H

#include "symbols/resolver/resolver_elf.h"

/* CPU time for reading the list of units, and for one address, in ns. */
#define DWARF_UNITS_NS 3000000000ULL
#define DWARF_FIND_NS  500000000ULL

#define DWARF_UNITS_MAX      (1U << 18)
#define DWARF_FUNCTIONS_MAX  (1U << 21) /* address ranges of all units, and of the functions of one unit */
#define DWARF_LINE_BYTES_MAX (8U << 20) /* of the line program of a unit */

/*
 * Rows of the line program of a unit, and of all units of a file that are looked at. libdw needs 100 bytes for each row
 * while it reads a program, and 40 afterwards. If it gets no memory (SYMBOLS_CONFINE_DATA), it ends the process.
 */
#define DWARF_ROWS_MAX     (4U << 20)
#define DWARF_ALL_ROWS_MAX (8U << 20)

struct dwarf_file;

/*
 * The caller keeps `file`, which must outlive the result. `supplementary` is the file that .gnu_debugaltlink
 * names; NULL: not found. Returns 0, -ENODATA (nothing to read, or too much) or -ENOMEM.
 */
int dwarf_file_new(struct elf_file *file, struct elf_file *supplementary, struct dwarf_file **ret);
struct dwarf_file *dwarf_file_free(struct dwarf_file *dwarf);
DEFINE_CLEANUP(struct dwarf_file *, dwarf_file_free)

/*
 * Sets the frames of a code address: inlined functions, innermost first, and then the function that contains
 * them. That function gets `name`, from the symbol table, and `offset`. If `name` is NULL, DWARF's name is
 * used. Frames are as in struct symbol. Returns 0 with ret->n_frames 0 if nothing is known, or -ENOMEM.
 */
int dwarf_file_find(struct dwarf_file *dwarf, u64 address, const char *name, u64 offset, struct symbol *ret);

/* Returns the approximate memory that `dwarf` holds, in bytes. */
u64 dwarf_file_bytes(const struct dwarf_file *dwarf);

#endif
