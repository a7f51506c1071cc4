// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver_dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "symbols/resolver/resolver_name.h"

/* Maximum depth of nested namespaces and types, and of blocks and inlined functions in a function. */
#define SCOPES_MAX 16
#define BLOCKS_MAX 128

/* An address range of a unit or a function. */
struct range {
	u64 low, high;
	Dwarf_Off die;
	size_t unit; /* number of the unit, if this is a range of a unit */
};

struct ranges {
	struct range *ranges;
	size_t n, room;
};

struct unit {
	bool read;
	struct ranges functions;
	enum { LINES_NOT_CHECKED, LINES_USABLE, LINES_NOT_USABLE } lines;
};

struct dwarf_file {
	Dwarf *dwarf, *supplementary;
	const Elf_Data *line_programs;
	const Elf_Data *info, *supplementary_info; /* .debug_info */
	struct ranges units;
	struct unit *functions; /* by number of the unit */
	size_t n_units;
	u64 bytes;
	size_t rows; /* of the line programs that libdw may have read, at most */
	u64 until;   /* limit of this thread's CPU time, ns */
	unsigned int steps;
};

static u64 cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static void allow(struct dwarf_file *file, u64 ns)
{
	file->until = cpu_ns() + ns;
	file->steps = 0;
}

/* Returns whether the CPU time allows another step. Looks at the clock at every 64th step. */
static bool may_continue(struct dwarf_file *file)
{
	return ++file->steps % 64 || cpu_ns() < file->until;
}

static int add_range(struct ranges *ranges, const struct range *range)
{
	if (ranges->n == ranges->room) {
		size_t room = ranges->room ? 2 * ranges->room : 64;
		struct range *grown = reallocarray(ranges->ranges, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		ranges->ranges = grown;
		ranges->room = room;
	}
	ranges->ranges[ranges->n++] = *range;
	return 0;
}

/* Adds all ranges of a unit or a function. Returns 0, -ENOMEM, -E2BIG or -ETIME. */
static int add_ranges(struct dwarf_file *file, Dwarf_Die *die, size_t unit, struct ranges *ranges)
{
	struct range range = {.die = dwarf_dieoffset(die), .unit = unit};
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		int r;

		if (!may_continue(file))
			return -ETIME;
		/* Code that the linker discarded has ranges that start at 0 (or 1). */
		if (low >= high || low <= 1)
			continue;
		if (ranges->n >= DWARF_FUNCTIONS_MAX)
			return -E2BIG;
		range.low = low;
		range.high = high;
		r = add_range(ranges, &range);
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	/* The smaller range sorts last, because the search looks at it first. */
	return x->high > y->high ? -1 : x->high < y->high;
}

static void sort(struct ranges *ranges)
{
	if (ranges->n)
		qsort(ranges->ranges, ranges->n, sizeof(*ranges->ranges), compare);
}

#define LOOK_BACK 64

static const struct range *find(const struct ranges *ranges, u64 address)
{
	size_t low = 0, high = ranges->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && low - i <= LOOK_BACK;) {
		if (address < ranges->ranges[i].high)
			return &ranges->ranges[i];
	}
	return NULL;
}

/* Counts the units by their headers before any of them is parsed. Returns 0, -ENODATA or -E2BIG. */
static int count_units(struct dwarf_file *file)
{
	Dwarf_Off at = 0, next;
	size_t size, n = 0;

	while (dwarf_nextcu(file->dwarf, at, &next, &size, NULL, NULL, NULL) == 0) {
		if (next <= at)
			return -ENODATA;
		if (++n > DWARF_UNITS_MAX || !may_continue(file))
			return -E2BIG;
		at = next;
	}
	file->n_units = n;
	return n ? 0 : -ENODATA;
}

static int read_units(struct dwarf_file *file)
{
	Dwarf_Off at = 0, next;
	size_t size;
	int r = count_units(file);

	if (r < 0)
		return r;
	file->functions = calloc(file->n_units, sizeof(*file->functions));
	if (!file->functions)
		return -ENOMEM;
	for (size_t i = 0; i < file->n_units; i++, at = next) {
		Dwarf_Die die;

		if (dwarf_nextcu(file->dwarf, at, &next, &size, NULL, NULL, NULL) != 0)
			break;
		if (!may_continue(file))
			return -ETIME;
		if (!dwarf_offdie(file->dwarf, at + size, &die) || dwarf_tag(&die) == DW_TAG_partial_unit)
			continue;
		r = add_ranges(file, &die, i, &file->units);
		if (r < 0)
			return r;
	}
	sort(&file->units);
	return file->units.n ? 0 : -ENODATA;
}

/*
 * Returns whether the strings of the section are terminated within it. DWARF requires that, but libdw (0.188)
 * does not always check it.
 */
static bool has_ends(const struct elf_file *file, size_t section)
{
	const Elf_Data *data = section ? elf_rawdata(elf_getscn(file->elf, section), NULL) : NULL;

	if (!section)
		return true;
	return data && (!data->d_size || (data->d_buf && !((const char *)data->d_buf)[data->d_size - 1]));
}

static bool has_sound_strings(const struct elf_file *file)
{
	return has_ends(file, file->string_section) && has_ends(file, file->line_string_section);
}

/*
 * Attaches the supplementary file if the file needs one. Returns 0, or -ENODATA if it is missing or does not
 * match.
 */
static int supply(struct dwarf_file *file, const struct elf_file *main, struct elf_file *supplementary)
{
	const u8 *build_id;
	size_t size;

	if (!main->alternative_section)
		return 0;
	if (!elf_file_debug_altlink(main, &build_id, &size) || !size || !supplementary ||
	    !supplementary->elf || size != supplementary->build_id_size ||
	    memcmp(build_id, supplementary->build_id, size) != 0 || supplementary->alternative_section ||
	    supplementary->debug_bytes == UINT64_MAX)
		return -ENODATA;
	file->supplementary = dwarf_begin_elf(supplementary->elf, DWARF_C_READ, NULL);
	if (!file->supplementary || !has_sound_strings(supplementary))
		return -ENODATA;
	dwarf_setalt(file->dwarf, file->supplementary);
	file->bytes += supplementary->debug_bytes;
	return 0;
}

int dwarf_file_new(struct elf_file *file, struct elf_file *supplementary, struct dwarf_file **ret)
{
	_cleanup_(dwarf_file_freep) struct dwarf_file *dwarf = NULL;
	int r;

	if (!file->elf || !file->has_dwarf || file->debug_bytes == UINT64_MAX)
		return -ENODATA;
	dwarf = calloc(1, sizeof(*dwarf));
	if (!dwarf)
		return -ENOMEM;
	allow(dwarf, DWARF_UNITS_NS);
	dwarf->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!dwarf->dwarf || !has_sound_strings(file))
		return -ENODATA;
	dwarf->bytes = file->debug_bytes;
	r = supply(dwarf, file, supplementary);
	if (r < 0)
		return r;
	/* libdw has decompressed the sections by now, so elf_rawdata() returns decompressed data. */
	dwarf->info = elf_rawdata(elf_getscn(file->elf, file->info_section), NULL);
	if (dwarf->supplementary)
		dwarf->supplementary_info =
			elf_rawdata(elf_getscn(supplementary->elf, supplementary->info_section), NULL);
	if (file->line_section)
		dwarf->line_programs = elf_rawdata(elf_getscn(file->elf, file->line_section), NULL);
	r = read_units(dwarf);
	if (r < 0)
		return r == -ENOMEM ? r : -ENODATA;
	*ret = TAKE_PTR(dwarf);
	return 0;
}

struct dwarf_file *dwarf_file_free(struct dwarf_file *dwarf)
{
	if (!dwarf)
		return NULL;
	for (size_t i = 0; dwarf->functions && i < dwarf->n_units; i++)
		free(dwarf->functions[i].functions.ranges);
	free(dwarf->functions);
	free(dwarf->units.ranges);
	if (dwarf->dwarf)
		(void)dwarf_end(dwarf->dwarf);
	if (dwarf->supplementary)
		(void)dwarf_end(dwarf->supplementary);
	free(dwarf);
	return NULL;
}

u64 dwarf_file_bytes(const struct dwarf_file *dwarf)
{
	return dwarf->bytes + dwarf->units.room * sizeof(struct range) + dwarf->n_units * sizeof(struct unit);
}

/*
 * Moves to the next sibling, which must come after the current one in the file: otherwise a malformed file
 * could cause an endless loop.
 */
static bool next_sibling(Dwarf_Die *die)
{
	Dwarf_Off at = dwarf_dieoffset(die);

	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > at;
}

static bool has_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_module:
		return true;
	default:
		return false;
	}
}

/* Reads the functions of a unit, also those nested in namespaces and types. */
static int read_functions(struct dwarf_file *file, Dwarf_Off unit, struct ranges *functions)
{
	Dwarf_Die stack[SCOPES_MAX];
	size_t depth = 1;
	Dwarf_Die die;

	if (!dwarf_offdie(file->dwarf, unit, &die) || dwarf_child(&die, &stack[0]) != 0)
		return 0;
	while (depth) {
		Dwarf_Die *at = &stack[depth - 1];
		int tag = dwarf_tag(at);
		Dwarf_Die child;

		if (!may_continue(file))
			return -ETIME;
		if (tag == DW_TAG_subprogram) {
			int r = add_ranges(file, at, 0, functions);

			if (r < 0)
				return r;
		}
		if (has_functions(tag) && depth < SCOPES_MAX && dwarf_child(at, &child) == 0) {
			stack[depth++] = child;
			continue;
		}
		while (depth && !next_sibling(&stack[depth - 1]))
			depth--;
	}
	return 0;
}

static const struct ranges *functions_of(struct dwarf_file *file, const struct range *unit)
{
	struct unit *read = &file->functions[unit->unit];

	if (!read->read) {
		read->read = true;
		if (read_functions(file, unit->die, &read->functions) < 0)
			read->functions.n = 0;
		sort(&read->functions);
		file->bytes += read->functions.room * sizeof(struct range);
	}
	return &read->functions;
}

/* Same as dwarf_haspc(), which has no limit: a block may have millions of ranges. */
static bool contains(struct dwarf_file *file, Dwarf_Die *block, u64 address)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(block, at, &base, &low, &high)) > 0) {
		if (!may_continue(file))
			return false;
		if (address >= low && address < high)
			return true;
	}
	return false;
}

/* If a block or inlined function in `die` contains the address, sets `die` to it and returns true. */
static bool step_in(struct dwarf_file *file, Dwarf_Die *die, u64 address)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (!may_continue(file))
			return false;
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
		    contains(file, &child, address)) {
			*die = child;
			return true;
		}
	} while (next_sibling(&child));
	return false;
}

/* Finds the inlined functions at the address, outermost first. */
static size_t inlined_at(struct dwarf_file *file, const Dwarf_Die *function, u64 address,
			 Dwarf_Die ret[BLOCKS_MAX])
{
	Dwarf_Die die = *function;
	size_t n = 0;

	for (size_t depth = 0; depth < BLOCKS_MAX && step_in(file, &die, address); depth++) {
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			ret[n++] = die;
	}
	return n;
}

static bool ends_within(const Elf_Data *data, const char *text)
{
	const char *first = data ? data->d_buf : NULL;

	return first && text >= first && text < first + data->d_size &&
	       memchr(text, 0, data->d_size - (size_t)(text - first));
}

/* libdw (0.188) does not check that a string inside .debug_info is terminated. */
static const char *text_of(const struct dwarf_file *file, Dwarf_Attribute *attribute)
{
	const char *text = dwarf_formstring(attribute);

	if (text && dwarf_whatform(attribute) == DW_FORM_string && !ends_within(file->info, text) &&
	    !ends_within(file->supplementary_info, text))
		return NULL;
	return text;
}

static const char *name_of(const struct dwarf_file *file, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = text_of(file, &attribute);
	if (!name && dwarf_attr_integrate(die, DW_AT_name, &attribute))
		name = text_of(file, &attribute);
	return name && *name ? name : NULL;
}

/* Bytes in memory of a row of a line program that was read: struct Dwarf_Line_s in libdw. */
#define ROW_BYTES 40

/*
 * Returns the maximum number of rows that a line program can add: those bytes that may be a special opcode or
 * DW_LNS_copy. Other opcodes add no row, or one for several bytes.
 */
static size_t count_rows(const u8 *program, size_t size)
{
	size_t base_at = 4 + 2 + 4 + 1 + 1 + 1 + 1; /* of opcode_base, in version 2 and 3 */
	size_t n = 0;
	u16 version;
	u8 base;

	if (size < sizeof(u32) + sizeof(version))
		return 0;
	memcpy(&version, program + sizeof(u32), sizeof(version));
	base_at += version >= 5 ? 3 : version == 4 ? 1 : 0;
	base = base_at < size ? program[base_at] : 0;
	for (size_t i = 0; i < size; i++)
		n += program[i] >= base || program[i] == DW_LNS_copy;
	return n;
}

/* Returns whether the unit has a line program that is not too large. */
static bool check_lines(struct dwarf_file *file, Dwarf_Die *unit)
{
	const Elf_Data *data = file->line_programs;
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	size_t rows;
	u32 size;

	/* libdw prepends the directory to the file names, so it must be a valid string. */
	if (dwarf_attr_integrate(unit, DW_AT_comp_dir, &attribute) && !text_of(file, &attribute))
		return false;
	if (!data || !data->d_buf || !dwarf_attr(unit, DW_AT_stmt_list, &attribute) ||
	    dwarf_formudata(&attribute, &offset) != 0 || offset >= data->d_size ||
	    data->d_size - offset < sizeof(size))
		return false;
	/* The length is in the first word. 64-bit DWARF has 0xffffffff there and is rejected. */
	memcpy(&size, (const char *)data->d_buf + offset, sizeof(size));
	if (size > DWARF_LINE_BYTES_MAX)
		return false;
	rows = count_rows((const u8 *)data->d_buf + offset, MIN(size + sizeof(size), data->d_size - offset));
	if (rows > DWARF_ROWS_MAX || file->rows + rows > DWARF_ALL_ROWS_MAX)
		return false;
	file->rows += rows;
	file->bytes += rows * ROW_BYTES;
	return true;
}

static bool has_lines(struct dwarf_file *file, struct unit *unit, Dwarf_Die *die)
{
	if (unit->lines == LINES_NOT_CHECKED)
		unit->lines = check_lines(file, die) ? LINES_USABLE : LINES_NOT_USABLE;
	return unit->lines == LINES_USABLE;
}

static int set_place(struct symbol_frame *frame, const char *file, int line)
{
	if (!file || line <= 0)
		return 0;
	frame->line = (u32)line;
	return resolver_printable(file, &frame->file);
}

static int set_place_of_address(Dwarf_Die *unit, u64 address, struct symbol_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number;

	if (!line || dwarf_lineno(line, &number) != 0)
		return 0;
	return set_place(frame, dwarf_linesrc(line, NULL, NULL), number);
}

/* Sets the place that the inlined function is called from. */
static int set_place_of_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct symbol_frame *frame)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t n;

	if (!dwarf_attr(inlined, DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &file) != 0 ||
	    !dwarf_attr(inlined, DW_AT_call_line, &attribute) || dwarf_formudata(&attribute, &line) != 0 ||
	    line > INT32_MAX || dwarf_getsrcfiles(unit, &files, &n) != 0 || file >= n)
		return 0;
	return set_place(frame, dwarf_filesrc(files, file, NULL, NULL), (int)line);
}

/* `inlined` is sorted outermost first. */
static int set_frames(struct dwarf_file *file, bool lines, Dwarf_Die *unit, Dwarf_Die *inlined,
		      size_t n_inlined, u64 address, const char *name, u64 offset, struct symbol *ret)
{
	/* If there are too many, the outer inlined functions are left out, but not the function itself. */
	size_t left_out = n_inlined < SYMBOL_FRAMES_MAX ? 0 : n_inlined - (SYMBOL_FRAMES_MAX - 1);
	size_t n = n_inlined - left_out + 1;

	ret->frames = calloc(n, sizeof(*ret->frames));
	if (!ret->frames)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct symbol_frame *frame = &ret->frames[i];
		bool is_function = i + 1 == n;
		const char *raw = is_function ? name : name_of(file, &inlined[n_inlined - 1 - i]);
		int r = 0;

		frame->inlined = !is_function;
		frame->offset = is_function ? offset : 0;
		if (lines && i == 0)
			r = set_place_of_address(unit, address, frame);
		else if (lines)
			r = set_place_of_call(unit, is_function ? &inlined[0] : &inlined[n_inlined - i],
					      frame);
		if (r == 0)
			r = resolver_name(raw ? raw : "[unknown]", &frame->name);
		if (r < 0) {
			free(frame->file);
			if (!ret->n_frames)
				free(TAKE_PTR(ret->frames));
			return r;
		}
		ret->n_frames++;
	}
	return 0;
}

int dwarf_file_find(struct dwarf_file *dwarf, u64 address, const char *name, u64 offset, struct symbol *ret)
{
	const struct range *unit = find(&dwarf->units, address);
	const struct range *function;
	Dwarf_Die inlined[BLOCKS_MAX];
	Dwarf_Die unit_die, die;
	size_t n_inlined = 0;

	if (!unit || !dwarf_offdie(dwarf->dwarf, unit->die, &unit_die))
		return 0;
	allow(dwarf, DWARF_FIND_NS);
	function = find(functions_of(dwarf, unit), address);
	if (function && dwarf_offdie(dwarf->dwarf, function->die, &die)) {
		n_inlined = inlined_at(dwarf, &die, address, inlined);
		if (!name) {
			name = name_of(dwarf, &die);
			offset = address - function->low;
		}
	}
	if (!name)
		return 0;
	return set_frames(dwarf, has_lines(dwarf, &dwarf->functions[unit->unit], &unit_die), &unit_die,
			  inlined, n_inlined, address, name, offset, ret);
}
