// SPDX-License-Identifier: GPL-2.0
/* What an address of a process (or of the kernel) is: plain data, which crosses from the symbolizer. */
#ifndef PEBSD_SYMBOL_H
#define PEBSD_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

enum symbol_kind {
	SYMBOL_CODE, /* an instruction of the process, or a return address less one */
	SYMBOL_DATA, /* what an instruction accessed */
};

/* Addresses of the kernel's half are asked for with any pid, and found the same. */
struct symbol_query {
	u64 address;
	u32 pid;  /* of the process (tgid), in pebsd's pid namespace */
	u32 kind; /* enum symbol_kind */
};

/* What the address lies in. */
enum symbol_region {
	SYMBOL_UNKNOWN,   /* the process is gone, was never seen, or has nothing there */
	SYMBOL_FILE,      /* a file that is mapped: `module` */
	SYMBOL_HEAP,      /* [heap] */
	SYMBOL_STACK,     /* [stack], or the stack that the process' thread runs on where that is known */
	SYMBOL_ANONYMOUS, /* memory of no file; `module` where the process gave it a name ([anon:NAME]) */
	SYMBOL_SHARED,    /* shared memory: /dev/zero, memfd:, SYSV */
	SYMBOL_VDSO,
	SYMBOL_JIT,    /* code that the process told of in perf-PID.map */
	SYMBOL_KERNEL, /* the kernel's half; `module` is a kernel module's, NULL for the kernel itself */
	SYMBOL_REGIONS
};

/* "file", "heap", ...: a constant. */
const char *symbol_region_name(enum symbol_region region);

/* A function at the address, or a variable. Inlined ones come first, innermost first. */
struct symbol_frame {
	char *name;   /* as in the symbol table, C++ and Rust demangled; never NULL */
	char *file;   /* of the source; NULL: not known */
	u32 line;     /* 0: not known */
	u64 offset;   /* of the address from the name's start, bytes; 0 for inlined functions */
	bool inlined; /* its code stands in that of the next frame */
};

#define SYMBOL_BUILD_ID_MAX 20
#define SYMBOL_FRAMES_MAX   16

struct symbol {
	enum symbol_region region;
	bool deleted;   /* the module's file is no more under its name: it was replaced or removed */
	char *module;   /* path as the process sees it; NULL where there is none */
	u64 address;    /* in the module: the ELF file's own virtual address where it is one, else the offset
			 * in the file or, of memory of no file, from the mapping's start */
	u64 start, end; /* of the mapping in the process; 0: not known */
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size; /* 0: not known */
	size_t n_frames;  /* 0: no name is known */
	struct symbol_frame *frames;
};

/* Frees what a symbol holds and makes it all zero, which is SYMBOL_UNKNOWN. */
void symbol_done(struct symbol *symbol);

/* A deep copy. 0 or -ENOMEM, with `ret` all zero. */
int symbol_copy(const struct symbol *symbol, struct symbol *ret);

/*
 * The name to show: the innermost frame's; else "[unknown] MODULE+0xOFFSET", "[heap]", "[stack]", "[anon]",
 * "[unknown]". Without addresses of the process or the kernel. The caller frees; NULL: no memory.
 */
char *symbol_text(const struct symbol *symbol);

/* A file mapping that a process has just made (PERF_RECORD_MMAP2). `build_id_size` 0: not known. */
struct symbol_mapping {
	u32 pid;
	u64 start, size, offset; /* in the process, bytes, in the file */
	u32 major, minor;
	u64 inode;
	u32 protection; /* PROT_* */
	const char *path;
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size;
};

/* The most processes that are known at once. The one that was used least recently makes room. */
#define SYMBOL_PROCESSES_MAX 1024

#define SYMBOL_IS_KERNEL(address) ((s64)(address) < 0)

#endif
