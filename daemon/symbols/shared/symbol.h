// SPDX-License-Identifier: GPL-2.0
/* Describes an address of a process or of the kernel. Plain data, which the symbolizer sends to pebsd. */
#ifndef PEBSD_SYMBOL_H
#define PEBSD_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

enum symbol_kind {
	SYMBOL_CODE, /* an instruction, or a return address minus 1 */
	SYMBOL_DATA, /* data that an instruction accessed */
};

/* For kernel addresses, any pid gives the same result. */
struct symbol_query {
	u64 address;
	u32 pid;  /* of the process (tgid), in pebsd's pid namespace */
	u32 kind; /* enum symbol_kind */
};

/* The memory in which the address lies. */
enum symbol_region {
	SYMBOL_UNKNOWN,   /* the process is gone, was never seen, or has no mapping there */
	SYMBOL_FILE,      /* a mapped file: `module` */
	SYMBOL_HEAP,      /* [heap] */
	SYMBOL_STACK,     /* [stack], the stack of the main thread */
	SYMBOL_ANONYMOUS, /* not of a file; `module` if the process named it ([anon:NAME]) */
	SYMBOL_SHARED,    /* shared memory: /dev/zero, memfd:, SYSV */
	SYMBOL_VDSO,
	SYMBOL_JIT,    /* code that the process listed in perf-PID.map */
	SYMBOL_KERNEL, /* `module` is the name of a kernel module; NULL: the kernel itself */
	SYMBOL_REGIONS
};

/* Returns a constant: "file", "heap", ... */
const char *symbol_region_name(enum symbol_region region);

/* A function or variable at the address. Inlined functions come first, innermost first. */
struct symbol_frame {
	char *name;   /* from a symbol table, DWARF or a JIT map, C++ and Rust demangled; never NULL */
	char *file;   /* source file; NULL: not known */
	u32 line;     /* 0: not known */
	u64 offset;   /* of the address in the function or variable, bytes; 0 if inlined */
	bool inlined; /* inlined into the next frame's function */
};

#define SYMBOL_BUILD_ID_MAX 20
#define SYMBOL_FRAMES_MAX   16

struct symbol {
	enum symbol_region region;
	bool deleted; /* the module's file was replaced or removed */
	char *module; /* path as the process sees it; NULL: no module */
	/*
	 * Address in the module: the virtual address if the module is an ELF file. Otherwise the offset in
	 * the file, or the offset from the start of a mapping without a file.
	 */
	u64 address;
	u64 start, end; /* of the mapping in the process; 0: not known */
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size; /* 0: not known */
	size_t n_frames;  /* 0: no name is known */
	struct symbol_frame *frames;
};

/* Frees the contents of a symbol and makes it all zero, which is SYMBOL_UNKNOWN. */
void symbol_done(struct symbol *symbol);

/*
 * Returns the name to show. It is the innermost frame's name, or else a text such as "[heap]",
 * "[anon:NAME]", "[kernel]", "[unknown] MODULE+0xOFFSET" or "[unknown]". It contains no address of the process
 * or the kernel. The caller frees it. NULL: no memory.
 */
char *symbol_text(const struct symbol *symbol);

/* A file mapping that a process has just created (PERF_RECORD_MMAP2). `build_id_size` 0: not known. */
struct symbol_mapping {
	u32 pid;
	u64 start, size, offset; /* address in the process, bytes, offset in the file */
	u32 major, minor;
	u64 inode;
	u32 protection; /* PROT_* */
	const char *path;
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size;
};

/* Maximum processes that are known at once. The least recently used is replaced. */
#define SYMBOL_PROCESSES_MAX 1024

#define SYMBOL_IS_KERNEL(address) ((s64)(address) < 0)

#endif
