// SPDX-License-Identifier: GPL-2.0
/* The running program and the shared libraries that the dynamic linker loaded into it. */
#ifndef PEBSD_LOADED_H
#define PEBSD_LOADED_H

#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

/* A build ID is a digest that the linker computes; GNU ld's have 20 bytes. */
#define LOADED_BUILD_ID_MAX 32

struct loaded {
	char *name; /* "libbpf.so.1"; NULL: the program itself */
	char *file; /* links resolved, so that the name mostly ends with the version; NULL: unknown */
	char build_id[2 * LOADED_BUILD_ID_MAX + 1]; /* in hexadecimal; "": none */
};

struct loaded_list {
	struct loaded *list;
	size_t n;
};

/*
 * Lists the program first, then the libraries in the order in which they were loaded. The kernel's vdso is
 * left out. Returns 0 or -ENOMEM. Release `ret` with loaded_done().
 */
int loaded_find(struct loaded_list *ret);
void loaded_done(struct loaded_list *list);

/*
 * Finds the build ID in the notes of an ELF file (elf(5), Notes) and writes it in hexadecimal. Writes "" if
 * there is none, if it is longer than LOADED_BUILD_ID_MAX, or if the notes are malformed. Pure function.
 */
void loaded_build_id(const u8 *notes, size_t size, char ret[static 2 * LOADED_BUILD_ID_MAX + 1]);

#endif
