// SPDX-License-Identifier: GPL-2.0
/*
 * A program's build info (--version --json): the program, its compiler, its BPF objects, and its libraries.
 * For each loaded library, it shows the version that the program was compiled with and the version that is
 * loaded, as far as they are known.
 */
#ifndef PEBSD_BUILD_INFO_H
#define PEBSD_BUILD_INFO_H

#include <stddef.h>
#include <stdio.h>

/* A BPF object that is part of the program. */
struct build_info_bpf {
	const char *name;   /* "pebsd": bpf/pebsd.bpf.c */
	const char *sha256; /* SHA-256 of the compiled object, in hexadecimal */
};

/* Prints the build info of the running process, as `program`, in JSON. Returns 0 or -errno. */
int build_info_print(FILE *out, const char *program, const struct build_info_bpf *bpf, size_t n_bpf);

/*
 * Returns the version of `library` in `list`, which has the form that the build writes: "libbpf 1.1.2 libelf
 * 0.188 ...". The caller frees it. Returns NULL if the library is not in the list. Pure function.
 */
char *build_info_compiled_with(const char *list, const char *library);

#endif
