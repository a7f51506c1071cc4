// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver_elf.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES    4096ULL
#define NAME_COMPARED 256

/* Maximum of the number of sections times the bytes of their names. */
#define NAMES_WORK_MAX (1ULL << 32)

/* Maximum size of DWARF sections, decompressed, as their headers state it. */
#define DEBUG_BYTES_MAX (2ULL << 30)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

static bool is_own_kind(Elf *elf)
{
	GElf_Ehdr header;

	return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
	       header.e_ident[EI_DATA] == OWN_ORDER && (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

static void read_segments(struct elf_file *file)
{
	size_t n;

	if (elf_getphdrnum(file->elf, &n) < 0)
		return;
	for (size_t i = 0; i < n && i < PN_XNUM && file->n_segments < ELF_SEGMENTS_MAX; i++) {
		struct elf_segment *segment = &file->segments[file->n_segments];
		GElf_Phdr header;

		if (!gelf_getphdr(file->elf, (int)i, &header))
			return;
		if (header.p_type != PT_LOAD || header.p_vaddr + header.p_memsz < header.p_vaddr ||
		    header.p_offset + header.p_filesz < header.p_offset)
			continue;
		segment->offset = header.p_offset;
		segment->address = header.p_vaddr;
		segment->file_size = header.p_filesz;
		segment->memory_size = header.p_memsz;
		segment->protection = (header.p_flags & PF_R ? PROT_READ : 0U) |
				      (header.p_flags & PF_W ? PROT_WRITE : 0U) |
				      (header.p_flags & PF_X ? PROT_EXEC : 0U);
		file->n_segments++;
	}
}

static void read_build_id(struct elf_file *file)
{
	const void *build_id;
	ssize_t size = dwelf_elf_gnu_build_id(file->elf, &build_id);

	if (size <= 0 || size > SYMBOL_BUILD_ID_MAX)
		return;
	memcpy(file->build_id, build_id, (size_t)size);
	file->build_id_size = (u8)size;
}

/* Returns the string table's data if its last byte is NUL. Each name then ends within the table. */
static const Elf_Data *names_of(Elf *elf, size_t index)
{
	Elf_Scn *scn = elf_getscn(elf, index);
	const Elf_Data *data;
	GElf_Shdr header;

	if (!scn || !gelf_getshdr(scn, &header) || header.sh_type != SHT_STRTAB ||
	    (header.sh_flags & SHF_COMPRESSED))
		return NULL;
	data = elf_getdata(scn, NULL);
	if (!data || !data->d_buf || !data->d_size || ((const char *)data->d_buf)[data->d_size - 1])
		return NULL;
	return data;
}

/*
 * Finds the sections whose contents are checked before libdw reads them. If several have one name, libdw reads the
 * first that is not empty. Another one could then be checked instead, so such debug information is not read.
 */
static void find_debug_section(struct elf_file *file, Elf_Scn *section, const char *name)
{
	const struct {
		const char *name;
		size_t *number;
	} checked[] = {
		{".debug_info", &file->info_section},
		{".debug_line", &file->line_section},
		{".debug_str", &file->string_section},
		{".debug_line_str", &file->line_string_section},
	};

	for (size_t i = 0; i < ARRAY_SIZE(checked); i++) {
		if (strcmp(name, checked[i].name) != 0)
			continue;
		if (*checked[i].number)
			file->debug_bytes = UINT64_MAX;
		*checked[i].number = elf_ndxscn(section);
	}
	file->has_dwarf = file->info_section != 0;
}

static void read_section(struct elf_file *file, Elf_Scn *section, const Elf_Data *names)
{
	GElf_Shdr header;
	GElf_Chdr compressed;
	const char *name;
	u64 size;

	if (!gelf_getshdr(section, &header))
		return;
	if (header.sh_type == SHT_SYMTAB)
		file->has_symbols = true;
	if (header.sh_name >= names->d_size || header.sh_type == SHT_NOBITS)
		return;
	name = (const char *)names->d_buf + header.sh_name;
	if (strcmp(name, ".gnu_debuglink") == 0)
		file->debug_link_section = elf_ndxscn(section);
	if (strcmp(name, ".gnu_debugaltlink") == 0)
		file->alternative_section = elf_ndxscn(section);
	/*
	 * libdw also reads the old compressed form of this section (elfutils 0.188, libdw/dwarf_begin_elf.c), and would
	 * open the file that it names, anywhere. Nobody writes this form: read no debug information.
	 */
	if (strcmp(name, ".zgnu_debugaltlink") == 0)
		file->debug_bytes = UINT64_MAX;
	if (strncmp(name, ".debug_", 7) != 0 && strncmp(name, ".zdebug_", 8) != 0)
		return;
	find_debug_section(file, section, name);
	/*
	 * The old compressed form .zdebug_ has its size inside, and has not been written since 2015. Count it
	 * as too large.
	 */
	if (name[1] == 'z')
		file->debug_bytes = UINT64_MAX;
	size = header.sh_size;
	if (header.sh_flags & SHF_COMPRESSED)
		size = gelf_getchdr(section, &compressed) ? compressed.ch_size : UINT64_MAX;
	if (file->debug_bytes > DEBUG_BYTES_MAX || size > DEBUG_BYTES_MAX - file->debug_bytes)
		file->debug_bytes = UINT64_MAX;
	else
		file->debug_bytes += size;
}

static void read_sections(struct elf_file *file)
{
	Elf_Scn *section = NULL;
	const Elf_Data *names;
	size_t index, n = 0;

	if (elf_getshdrstrndx(file->elf, &index) < 0)
		return;
	names = names_of(file->elf, index);
	if (!names)
		return;
	/*
	 * libdw will search each section's name for its end, in the rest of the name table: limit this work. It will
	 * also read sections that are not checked here because there are too many.
	 */
	if (elf_getshdrnum(file->elf, &n) < 0 || n > ELF_SECTIONS_MAX ||
	    (n && names->d_size > NAMES_WORK_MAX / n))
		file->debug_bytes = UINT64_MAX;
	n = 0;
	while (n++ < ELF_SECTIONS_MAX && (section = elf_nextscn(file->elf, section)))
		read_section(file, section, names);
}

static int file_of(Elf *elf, int fd, struct elf_file **ret)
{
	struct elf_file *file;

	if (!elf)
		return -ENOEXEC;
	if (!is_own_kind(elf)) {
		(void)elf_end(elf);
		return -ENOEXEC;
	}
	file = calloc(1, sizeof(*file));
	if (!file) {
		(void)elf_end(elf);
		return -ENOMEM;
	}
	file->fd = fd;
	file->elf = elf;
	read_segments(file);
	read_build_id(file);
	read_sections(file);
	*ret = file;
	return 0;
}

int elf_file_new(int fd, struct elf_file **ret)
{
	(void)elf_version(EV_CURRENT);
	return file_of(elf_begin(fd, ELF_C_READ, NULL), fd, ret);
}

int elf_file_new_memory(char *image, size_t size, struct elf_file **ret)
{
	(void)elf_version(EV_CURRENT);
	return file_of(elf_memory(image, size), -1, ret);
}

struct elf_file *elf_file_free(struct elf_file *file)
{
	if (!file)
		return NULL;
	(void)elf_end(file->elf);
	if (file->fd >= 0)
		(void)close(file->fd);
	free(file);
	return NULL;
}

void elf_file_forget(struct elf_file *file)
{
	if (file->fd < 0)
		return;
	(void)elf_end(file->elf);
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
}

/* Returns the name at the start of a section, and the bytes that follow it. */
static const char *link_of(const struct elf_file *file, size_t index, const u8 **ret_rest, size_t *ret_size)
{
	const Elf_Data *data;
	const char *name;
	size_t length;

	if (!index)
		return NULL;
	data = elf_rawdata(elf_getscn(file->elf, index), NULL);
	if (!data || !data->d_buf)
		return NULL;
	name = data->d_buf;
	length = strnlen(name, data->d_size);
	if (!length || length >= data->d_size || length >= PATH_MAX)
		return NULL;
	*ret_rest = (const u8 *)name + length + 1;
	*ret_size = data->d_size - length - 1;
	return name;
}

const char *elf_file_debug_link(const struct elf_file *file, u32 *ret_crc)
{
	const u8 *rest;
	size_t size;
	const char *name = link_of(file, file->debug_link_section, &rest, &size);
	/* The CRC is at the next multiple of 4 bytes. */
	size_t padding = name ? (4 - (strlen(name) + 1) % 4) % 4 : 0;

	if (!name || size < padding + sizeof(*ret_crc))
		return NULL;
	memcpy(ret_crc, rest + padding, sizeof(*ret_crc));
	return name;
}

const char *elf_file_debug_altlink(const struct elf_file *file, const u8 **ret_build_id, size_t *ret_size)
{
	return link_of(file, file->alternative_section, ret_build_id, ret_size);
}

/* Returns whether the segment, which is mapped in whole pages, includes the byte of the file. */
static bool is_mapped_by(const struct elf_segment *segment, u64 offset)
{
	u64 first = segment->offset & ~(PAGE_BYTES - 1);
	u64 end = segment->offset + segment->file_size;

	return segment->file_size && offset >= first &&
	       offset - first < ((end - first + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1));
}

bool elf_file_address(const struct elf_file *file, u64 mapping_offset, u32 protection, u64 mapping_start,
		      u64 bias, u64 address, u64 *ret)
{
	const struct elf_segment *best = NULL;
	unsigned int best_fit = 0;
	u64 offset = mapping_offset + (address - mapping_start);

	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];
		u64 own = mapping_start - (segment->address + (mapping_offset - segment->offset));
		unsigned int fit = 1;

		if (!is_mapped_by(segment, mapping_offset) || !is_mapped_by(segment, offset))
			continue;
		/*
		 * A segment that is read-only after relocation was writable before. Only PROT_EXEC is
		 * reliable, so it counts most.
		 */
		if ((segment->protection & PROT_EXEC) == (protection & PROT_EXEC))
			fit += 4;
		if (own == bias)
			fit += 2;
		if ((segment->protection & PROT_WRITE) == (protection & PROT_WRITE))
			fit += 1;
		if (fit <= best_fit)
			continue;
		best = segment;
		best_fit = fit;
	}
	if (!best)
		return false;
	*ret = best->address + (offset - best->offset);
	return true;
}

const struct elf_segment *elf_file_segment(const struct elf_file *file, u64 address)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (address >= segment->address && address - segment->address < segment->memory_size)
			return segment;
	}
	return NULL;
}

/* Ranks the names of one address. The name with the highest rank is the one that people know best. */
static u32 rank_of(const char *name, const GElf_Sym *symbol)
{
	size_t underscores = strspn(name, "_");
	u32 rank = 0;

	if (symbol->st_size)
		rank += 64;
	if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		rank += 32;
	if (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL)
		rank += 16;
	else if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
		rank += 8;
	return rank + (u32)(underscores > 7 ? 0 : 7 - underscores);
}

/* Start and end of the sections, for symbols without a size. */
struct sections {
	struct section {
		u64 start, end;
		bool code;
	} * sections;
	size_t n;
};

static int sections_of(Elf *elf, struct sections *ret)
{
	Elf_Scn *scn = NULL;
	size_t n;

	if (elf_getshdrnum(elf, &n) < 0)
		n = 0;
	if (n > ELF_SECTIONS_MAX)
		n = ELF_SECTIONS_MAX;
	ret->n = n;
	ret->sections = calloc(n + 1, sizeof(*ret->sections));
	if (!ret->sections)
		return -ENOMEM;
	while ((scn = elf_nextscn(elf, scn)) && elf_ndxscn(scn) < n) {
		struct section *section = &ret->sections[elf_ndxscn(scn)];
		GElf_Shdr header;

		if (!gelf_getshdr(scn, &header) || header.sh_addr + header.sh_size < header.sh_addr)
			continue;
		section->start = header.sh_addr;
		section->end = header.sh_addr + header.sh_size;
		section->code = header.sh_flags & SHF_EXECINSTR;
	}
	return 0;
}

static bool is_of_kind(const GElf_Sym *symbol, const char *name, enum symbol_kind kind,
		       const struct section *section)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	if (kind == SYMBOL_DATA)
		return (type == STT_OBJECT || type == STT_COMMON) && symbol->st_size;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/*
	 * Labels in assembly count, too. Mapping symbols such as "$x" do not: they only tell code from data.
	 */
	return type == STT_NOTYPE && section && section->code && name[0] != '$' && name[0] != '.';
}

static int add(struct elf_symbols *symbols, const GElf_Sym *symbol, const char *name,
	       const struct section *section)
{
	struct elf_symbol *added;
	u64 end = symbol->st_value + symbol->st_size;

	/*
	 * The end of a symbol without a size is set when all symbols are known. Until then it is the end of
	 * the section.
	 */
	if (!symbol->st_size)
		end = section ? section->end : symbol->st_value + 1;
	if (end <= symbol->st_value)
		return 0;
	if (symbols->n == symbols->room) {
		size_t room = symbols->room ? 2 * symbols->room : 256;

		added = reallocarray(symbols->symbols, room, sizeof(*added));
		if (!added)
			return -ENOMEM;
		symbols->symbols = added;
		symbols->room = room;
	}
	added = &symbols->symbols[symbols->n++];
	added->start = symbol->st_value;
	added->end = end;
	added->name = name;
	added->rank = rank_of(name, symbol);
	return 0;
}

static int add_table(Elf *elf, Elf_Scn *scn, enum symbol_kind kind, const struct sections *sections,
		     struct elf_symbols *symbols)
{
	const Elf_Data *names;
	GElf_Shdr header;
	Elf_Data *data;
	size_t n;

	if (!gelf_getshdr(scn, &header) || (header.sh_flags & SHF_COMPRESSED) || !header.sh_entsize)
		return 0;
	names = names_of(elf, header.sh_link);
	data = elf_getdata(scn, NULL);
	if (!data || !names)
		return 0;
	symbols->bytes += data->d_size + names->d_size;
	n = data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	if (n > ELF_SYMBOLS_MAX)
		return -E2BIG;
	for (size_t i = 1; i < n; i++) {
		const struct section *section = NULL;
		const char *name;
		GElf_Sym symbol;
		int r;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_name >= names->d_size)
			continue;
		name = (const char *)names->d_buf + symbol.st_name;
		if (symbol.st_shndx < sections->n)
			section = &sections->sections[symbol.st_shndx];
		if (!*name || !is_of_kind(&symbol, name, kind, section))
			continue;
		r = add(symbols, &symbol, name, section);
		if (r < 0)
			return r;
	}
	return 0;
}

int elf_file_symbols(const struct elf_file *file, enum symbol_kind kind, struct elf_symbols *symbols)
{
	struct sections sections = {};
	Elf_Scn *scn = NULL;
	size_t tables = 0;
	int r = file->elf ? sections_of(file->elf, &sections) : -ENODATA;

	/* A file has at most one table of each of these two types. */
	for (size_t i = 0; r == 0 && i < ELF_SECTIONS_MAX && tables < 2; i++) {
		GElf_Shdr header;

		scn = elf_nextscn(file->elf, scn);
		if (!scn)
			break;
		if (!gelf_getshdr(scn, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		tables++;
		r = add_table(file->elf, scn, kind, &sections, symbols);
	}
	free(sections.sections);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	/* Compare only a part: a hostile file may have very long names. */
	return -strncmp(x->name, y->name, NAME_COMPARED);
}

#define RANK_HAS_SIZE 64U

void elf_symbols_sort(struct elf_symbols *symbols)
{
	u64 start = UINT64_MAX,
	    next = UINT64_MAX; /* of the symbol behind, and of the first one behind `start` */

	if (!symbols->n)
		return;
	qsort(symbols->symbols, symbols->n, sizeof(*symbols->symbols), compare);
	for (size_t i = symbols->n; i-- > 0;) {
		struct elf_symbol *symbol = &symbols->symbols[i];

		if (symbol->start != start) {
			next = start;
			start = symbol->start;
		}
		if (!(symbol->rank & RANK_HAS_SIZE) && symbol->end > next)
			symbol->end = next;
	}
}

void elf_symbols_done(struct elf_symbols *symbols)
{
	free(symbols->symbols);
	memset(symbols, 0, sizeof(*symbols));
}

/*
 * Number of symbols that are checked, backwards from the address. An address in a function has no name if more
 * than this number of symbols start between the function's start and the address. Such nested symbols, as in
 * assembly, are rare.
 */
#define LOOK_BACK 64

const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols, u64 address)
{
	size_t low = 0, high = symbols->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && low - i <= LOOK_BACK;) {
		if (address < symbols->symbols[i].end)
			return &symbols->symbols[i];
	}
	return NULL;
}
