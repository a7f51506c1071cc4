// SPDX-License-Identifier: GPL-2.0
/* The program that runs and the shared libraries that are loaded into it, as the dynamic linker tells. */
#ifndef PEBSD_LOADED_H
#define PEBSD_LOADED_H

#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

/* A build ID is a digest that the linker made; GNU's are of 20 bytes. */
#define LOADED_BUILD_ID_MAX 32

struct loaded {
	char *name; /* "libbpf.so.1"; NULL: the program itself */
	char *file; /* without symbolic links: its name mostly ends with the library's version. NULL: not
		       known */
	char build_id[2 * LOADED_BUILD_ID_MAX + 1]; /* hexadecimal; "": it bears none */
};

struct loaded_list {
	struct loaded *list;
	size_t n;
};

/* The program first, then the libraries in the order in which they were loaded; the kernel's own (vdso) is
 * left out. Returns 0 or -ENOMEM; release `ret` with loaded_done(). */
int loaded_find(struct loaded_list *ret);
void loaded_done(struct loaded_list *list);

/*
 * The build ID among notes as an ELF file has them (elf(5), Notes), in hexadecimal; "" where there is none,
 * it is longer than LOADED_BUILD_ID_MAX, or the notes make no sense. Pure.
 */
void loaded_build_id(const u8 *notes, size_t size, char ret[static 2 * LOADED_BUILD_ID_MAX + 1]);

#endif
