// SPDX-License-Identifier: GPL-2.0
/*
 * An ELF file of this machine's kind, made by anybody: where its bytes are mapped, its build id, and its
 * symbols, by libelf. It is read piece by piece and never mapped: what its owner cuts off does no harm then.
 * Memory is bounded by the sections that are read; sections which say that they are compressed are no source
 * of symbols.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_ELF_H
#define PEBSD_SYMBOLS_RESOLVER_ELF_H

#include <libelf.h>

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

#define ELF_SYMBOLS_MAX  (8U << 20)
#define ELF_SEGMENTS_MAX 64
#define ELF_SECTIONS_MAX 65536

/* A part of the file that is loaded. */
struct elf_segment {
	u64 offset, address, file_size, memory_size;
	u32 protection; /* PROT_* */
};

struct elf_symbol {
	u64 start, end;
	const char *name; /* in the file's string table */
	u32 rank;         /* which of two at one place names it better */
};

struct elf_symbols {
	struct elf_symbol *symbols; /* by `start` */
	size_t n, room;
	u64 bytes; /* of the file that were read for them */
};

struct elf_file {
	int fd;
	Elf *elf;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	size_t n_segments;
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size; /* 0: it has none, or a longer one */
	bool has_symbols; /* a full symbol table, not only what it exports */
	bool has_dwarf;
	/* Sections by their numbers; 0: there is none. */
	size_t info_section, line_section, string_section, line_string_section, debug_link_section,
		alternative_section;
	u64 debug_bytes; /* of DWARF once it is decompressed; UINT64_MAX: more than may be read */
};

/* Takes `fd`, with 0 only. 0; -ENOEXEC where it is no ELF file of this machine's byte order and class;
 * -ENOMEM. */
int elf_file_new(int fd, struct elf_file **ret);
/* As above, of an image in memory, which outlives it. */
int elf_file_new_memory(char *image, size_t size, struct elf_file **ret);
struct elf_file *elf_file_free(struct elf_file *file);
DEFINE_CLEANUP(struct elf_file *, elf_file_free)

/* Gives back what libelf holds of it; it can be read again. */
void elf_file_forget(struct elf_file *file);

/* Names of another file, within this one's data, checked to end there. NULL: none.
 * .gnu_debuglink: its debug information, by the CRC-32 of that file. */
const char *elf_file_debug_link(const struct elf_file *file, u32 *ret_crc);
/* .gnu_debugaltlink: what several files' debug information has in common, by its build id. */
const char *elf_file_alternative(const struct elf_file *file, const u8 **ret_build_id, size_t *ret_size);

/*
 * The file's own address of what a mapping has at `offset`, a byte of the file, where the mapping begins at
 * `mapping_offset` with `protection`. `bias`: of another mapping of it close by, where one is known (it
 * decides where two segments share a page); UINT64_MAX: none. False: no segment is there.
 */
bool elf_file_address(const struct elf_file *file, u64 mapping_offset, u32 protection, u64 mapping_start,
		      u64 bias, u64 address, u64 *ret);

/* The segment that has the address, with what is beyond the file's bytes (.bss). */
const struct elf_segment *elf_file_segment(const struct elf_file *file, u64 address);

/* Adds the symbols of functions, or of variables (not thread-local ones). 0, -ENOMEM or -E2BIG. */
int elf_file_symbols(const struct elf_file *file, enum symbol_kind kind, struct elf_symbols *symbols);

/* Once all are added. */
void elf_symbols_sort(struct elf_symbols *symbols);
void elf_symbols_done(struct elf_symbols *symbols);

/* NULL: there is none. */
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols, u64 address);

#endif
