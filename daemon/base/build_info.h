// SPDX-License-Identifier: GPL-2.0
/*
 * A program's bill of materials (--version --json): itself, what it was built with, and the libraries that
 * run in it, each by the version it was compiled for and the one that is loaded.
 */
#ifndef PEBSD_BUILD_INFO_H
#define PEBSD_BUILD_INFO_H

#include <stddef.h>
#include <stdio.h>

/* A BPF object that is part of the program. */
struct build_info_bpf {
	const char *name;   /* "pebsd": bpf/pebsd.bpf.c */
	const char *sha256; /* of the object as it was compiled, hexadecimal */
};

/* Prints the build info of the running process, as `program`, in JSON. Returns 0 or -errno. */
int build_info_print(FILE *out, const char *program, const struct build_info_bpf *bpf, size_t n_bpf);

/*
 * The version of `library` in `list`: "libbpf 1.1.2 libelf 0.188 ...", as the build writes it down. NULL
 * where it is not in it; the caller frees. Pure.
 */
char *build_info_compiled_with(const char *list, const char *library);

#endif
