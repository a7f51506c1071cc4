// SPDX-License-Identifier: GPL-2.0
/*
 * Reads an ELF file with this machine's byte order: where its bytes are mapped, its build id and its symbols
 * (libelf). The file is not trusted. It is read in pieces and never mapped, so its owner may truncate it at
 * any time. Memory is bounded by the sections that are read. Compressed sections are not used for symbols.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_ELF_H
#define PEBSD_SYMBOLS_RESOLVER_ELF_H

#include <libelf.h>

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

#define ELF_SYMBOLS_MAX  (8U << 20)
#define ELF_SEGMENTS_MAX 64
#define ELF_SECTIONS_MAX 65536

/* A segment that is loaded (PT_LOAD). */
struct elf_segment {
	u64 offset, address, file_size, memory_size;
	u32 protection; /* PROT_* */
};

struct elf_symbol {
	u64 start, end;
	const char *name; /* in the file's string table */
	u32 rank;         /* of several names at one address, the highest rank is used */
};

struct elf_symbols {
	struct elf_symbol *symbols; /* sorted by `start` */
	size_t n, room;
	u64 bytes; /* bytes of the file that were read for the symbols */
};

struct elf_file {
	int fd;
	Elf *elf;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	size_t n_segments;
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size; /* 0: no build id, or a longer one than SYMBOL_BUILD_ID_MAX */
	bool has_symbols; /* a full symbol table, not only exported symbols */
	bool has_dwarf;
	/* Section numbers; 0: there is no such section. */
	size_t info_section, line_section, string_section, line_string_section, debug_link_section,
		alternative_section;
	u64 debug_bytes; /* size of the DWARF sections, decompressed; UINT64_MAX: not to be read */
};

/*
 * Takes ownership of `fd`, but only on success. Returns 0, -ENOEXEC (not an ELF file with this machine's byte
 * order that can be executed or loaded) or -ENOMEM.
 */
int elf_file_new(int fd, struct elf_file **ret);
/* Same as elf_file_new(), for an image in memory, which must outlive the file. */
int elf_file_new_memory(char *image, size_t size, struct elf_file **ret);
struct elf_file *elf_file_free(struct elf_file *file);
DEFINE_CLEANUP(struct elf_file *, elf_file_free)

/* Frees the contents of the file that libelf holds in memory. They are read again when needed. */
void elf_file_forget(struct elf_file *file);

/*
 * Returns the name in .gnu_debuglink, that of the file with the debug information, and sets *ret_crc to the
 * CRC-32 of that file. The name points into this file's data and is checked to end there. NULL: none.
 */
const char *elf_file_debug_link(const struct elf_file *file, u32 *ret_crc);
/*
 * Same for .gnu_debugaltlink: returns the name and build id of the supplementary file, which holds debug
 * information that several files share (dwz).
 */
const char *elf_file_debug_altlink(const struct elf_file *file, const u8 **ret_build_id, size_t *ret_size);

/*
 * Converts `address`, an address in a process, to the virtual address in the file. It lies in a mapping that
 * starts at `mapping_start` and maps the file from `mapping_offset` with `protection`. `bias` is the load bias of
 * another mapping of the file close by; UINT64_MAX: not known. If two segments share a page, `bias` decides
 * between them. Returns false if no segment is there.
 */
bool elf_file_address(const struct elf_file *file, u64 mapping_offset, u32 protection, u64 mapping_start,
		      u64 bias, u64 address, u64 *ret);

/* Returns the segment with the address, including memory after the file's bytes (.bss). */
const struct elf_segment *elf_file_segment(const struct elf_file *file, u64 address);

/*
 * Adds the symbols of functions, or of variables (except thread-local ones). Returns 0, -ENOMEM, -E2BIG or
 * -ENODATA.
 */
int elf_file_symbols(const struct elf_file *file, enum symbol_kind kind, struct elf_symbols *symbols);

/* Call this after all symbols are added. */
void elf_symbols_sort(struct elf_symbols *symbols);
void elf_symbols_done(struct elf_symbols *symbols);

/* Returns NULL if there is none. */
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols, u64 address);

#endif
