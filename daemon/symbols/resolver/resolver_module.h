// SPDX-License-Identifier: GPL-2.0
/*
 * A mapped file with all that names its addresses: its own symbols, and the separate debug information for
 * it, by build id below /usr/lib/debug of this system, and then of the process' root; by .gnu_debuglink
 * beside it and below /usr/lib/debug there; by debuginfod where that is allowed.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_MODULE_H
#define PEBSD_SYMBOLS_RESOLVER_MODULE_H

#include <sys/stat.h>

#include "symbols/resolver/resolver_dwarf.h"
#include "symbols/resolver/resolver_elf.h"

/* Whose files they are: a file that tenants share is read once for each root, for each may lie about it. */
struct module_root {
	u64 device, inode, mounts; /* all 0: this process' own root */
};

struct module {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct module_root root;
	struct elf_file *elf; /* NULL: it is no ELF file of this machine's kind */
	struct elf_file *debug, *supplementary;
	struct elf_symbols code, data;
	struct dwarf_file *dwarf;
	bool has_code, has_data, looked_for_dwarf; /* they were read, or cannot be */
	bool asked_debuginfod;                     /* a server that does not answer takes seconds each time */
	u64 used, serial;
};

/*
 * Takes `fd`, always. `path` is the file's as its process sees it. `own_root` and `root`: O_PATH descriptors
 * of this process' root, and the one that the file is looked at from; -1: the same, or out of reach. 0 or
 * -ENOMEM.
 */
int module_open(int fd, const struct stat *found, const char *path, int own_root, int root,
		struct module *ret);

/* An image in memory, which outlives it. */
int module_of_memory(char *image, size_t size, struct module *ret);
void module_done(struct module *module);

/* Adds the names at the file's own address. 0 or -ENOMEM. */
int module_find(struct module *module, u64 address, enum symbol_kind kind, bool debuginfod,
		struct symbol *ret);

/* Gives back what can be read again. */
void module_forget(struct module *module);

u64 module_bytes(const struct module *module);

#endif
