// SPDX-License-Identifier: GPL-2.0
/*
 * A mapped file and all sources of its names: its own symbols and its separate debug information. The debug
 * information is searched for in this order: by build id below /usr/lib/debug of this system and then of the
 * process' root; by .gnu_debuglink, next to the file and below /usr/lib/debug of the process' root; by
 * debuginfod if that is allowed.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_MODULE_H
#define PEBSD_SYMBOLS_RESOLVER_MODULE_H

#include <sys/stat.h>

#include "symbols/resolver/resolver_dwarf.h"
#include "symbols/resolver/resolver_elf.h"

/*
 * The root directory that a file belongs to. A file that several roots share is read once for each of them,
 * because each may provide false debug information for it.
 */
struct module_root {
	u64 device, inode, mounts; /* all 0: the root of this process */
};

struct module {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct module_root root;
	struct elf_file *elf; /* NULL: not an ELF file for this machine */
	struct elf_file *debug, *supplementary;
	struct elf_symbols code, data;
	struct dwarf_file *dwarf;
	bool has_code, has_data, looked_for_dwarf; /* true: the part was read, or cannot be read */
	bool asked_debuginfod; /* ask only once: a server that does not answer costs seconds */
	u64 used, serial;
};

/*
 * Always takes ownership of `fd`. `path` is the file's path as its process sees it. `own_root` and `root` are
 * O_PATH descriptors: the root of this process, and the root that the file belongs to. `root` is -1 if the
 * two roots are the same, or if the file's root cannot be opened. Returns 0 or -ENOMEM.
 */
int module_open(int fd, const struct stat *found, const char *path, int own_root, int root,
		struct module *ret);

/*
 * Makes a module of an ELF image in memory, which must outlive the module. Searches for no separate debug
 * information. Returns 0, -ENOEXEC (not an ELF file for this machine) or -ENOMEM.
 */
int module_of_memory(char *image, size_t size, struct module *ret);
void module_done(struct module *module);

/* Adds the names at a virtual address of the file. Returns 0 or -ENOMEM. */
int module_find(struct module *module, u64 address, enum symbol_kind kind, bool debuginfod,
		struct symbol *ret);

/* Frees the data that can be read again. */
void module_forget(struct module *module);

u64 module_bytes(const struct module *module);

#endif
