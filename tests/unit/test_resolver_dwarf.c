// SPDX-License-Identifier: GPL-2.0
/* Debug information that was made to mislead or to delay the resolver. */
#include <fcntl.h>
#include <time.h>

#include <criterion/criterion.h>

#include "subject.h"
#include "symbols/resolver/resolver_module.h"

/* The address of the only function. It has no entry in a symbol table, so its name comes from DWARF. */
#define FUNCTION 0x1000

#define NUMBER_OF_BLOCKS 60

/* The start of a unit with one function, `function`, which has the name at offset 4 of .debug_str. */
static const char unit[] =
	"	.text\n"
	"function: nop\n"
	"	ret\n"
	"end:\n"
	"	.section .debug_abbrev,\"\",@progbits\n"
	"	.byte 1, 0x11, 1,  0x11, 1,  0x12, 6,  0x10, 0x17,  0, 0\n" /* compile unit: pc, lines */
	"	.byte 2, 0x2e, 1,  0x11, 1,  0x12, 6,  3\n"                 /* function: pc, name */
	"	.uleb128 name_form\n	.byte 0, 0\n"
	"	.byte 3, 0x0b, 0,  0x55, 0x17,  0, 0\n" /* block: ranges */
	"	.byte 0\n"
	"	.section .debug_info,\"\",@progbits\n"
	"	.long after - before\n"
	"before: .short 4\n"
	"	.long 0\n"
	"	.byte 8\n"
	"	.byte 1\n"
	"	.quad function\n"
	"	.long end - function\n"
	"	.long 0\n"
	"	.byte 2\n"
	"	.quad function\n"
	"	.long end - function\n"
	"	.long 4\n";

/* The end of the unit. */
static const char unit_end[] = "	.byte 0, 0\n"
			       "after:\n";

static char *directory;
static struct module module;

static void begin(void)
{
	directory = subject_directory();
}

static void end(void)
{
	module_done(&module);
	subject_remove(directory);
}

TestSuite(resolver_dwarf, .init = begin, .fini = end);

static char *in_directory(const char *name)
{
	char *path;

	cr_assert_geq(asprintf(&path, "%s/%s", directory, name), 0);
	return path;
}

/* DWARF 4: the name is at an offset of .debug_str of the file, or of its supplementary file. */
#define NAME_FORM_STRP         "0xe"
#define NAME_FORM_GNU_STRP_ALT "0x1f21"

/* Assembles and links the unit. `blocks` are inside the function, and `sections` follow the unit. */
static void build_form(const char *name_form, const char *blocks, const char *sections, const char *flags)
{
	_cleanup_free_ char *path = in_directory("file.s");
	FILE *file = fopen(path, "we");

	cr_assert_not_null(file);
	cr_assert_geq(
		fprintf(file, "	.set name_form, %s\n%s%s%s%s", name_form, unit, blocks, unit_end, sections),
		0);
	cr_assert_eq(fclose(file), 0);
	subject_run(
		"gcc -shared -nostdlib -Wl,-Ttext=%#x -Wl,--build-id=none %s -o '%s/file' '%s' && objcopy -N function -N end '%s/file'",
		FUNCTION, flags, directory, path, directory);
}

static void build(const char *blocks, const char *sections, const char *flags)
{
	build_form(NAME_FORM_STRP, blocks, sections, flags);
}

static void open_file(void)
{
	_cleanup_free_ char *path = in_directory("file");
	const struct stat found = {0};

	cr_assert_eq(module_open(open(path, O_RDONLY | O_CLOEXEC), &found, "/file", -1, -1, &module), 0);
	cr_assert_not_null(module.elf);
	cr_assert(module.elf->has_dwarf);
}

static void expect_name(const char *name)
{
	struct symbol symbol = {0};

	cr_assert_eq(module_find(&module, FUNCTION, SYMBOL_CODE, false, &symbol), 0);
	cr_assert_eq(symbol.n_frames, name ? 1 : 0);
	if (name)
		cr_expect_str_eq(symbol.frames[0].name, name);
	symbol_done(&symbol);
}

#define STRINGS(name, text, end) \
	"	.section " name ",\"\",@progbits\n	.ascii \"" text "\"\n	." end "\n"

Test(resolver_dwarf, a_function_without_a_symbol_has_the_name_of_its_debug_information)
{
	build("", STRINGS(".debug_str", "abcdname", "byte 0"), "");
	open_file();
	expect_name("name");
}

Test(resolver_dwarf, strings_without_an_end_are_not_read)
{
	build("", STRINGS(".debug_str", "abcdname", "byte 'x'"), "");
	open_file();
	expect_name(NULL);
}

/* `label` is at the start of `sized`, and the function between it and `last` has no name. */
Test(resolver_dwarf, a_symbol_without_a_size_ends_where_the_next_one_starts)
{
	static const char symbols[] = "	.text\n"
				      "sized: .type sized, @function\n"
				      "label: .type label, @function\n"
				      "	.fill 16, 1, 0x90\n"
				      "	.size sized, 2\n"
				      "last: .type last, @function\n"
				      "	.fill 16, 1, 0x90\n"
				      "	.size last, 1\n";
	const struct elf_symbol *found;
	struct elf_symbols all = {0};

	build("", symbols, "");
	open_file();
	cr_assert_eq(elf_file_symbols(module.elf, SYMBOL_CODE, &all), 0);
	elf_symbols_sort(&all);
	found = elf_symbols_find(&all, FUNCTION + 2);
	cr_assert_not_null(found);
	cr_expect_str_eq(found->name, "sized");
	found = elf_symbols_find(&all, FUNCTION + 2 + 8);
	cr_assert_not_null(found);
	cr_expect_str_eq(found->name, "label");
	found = elf_symbols_find(&all, FUNCTION + 2 + 16);
	cr_assert_not_null(found);
	cr_expect_str_eq(found->name, "last");
	cr_expect_null(elf_symbols_find(&all, FUNCTION + 2 + 24));
	elf_symbols_done(&all);
}

/* One file has a name at offset 4. Another one takes its name from there, and links to the first in section `name`. */
static void check_link_to_other_file(const char *name)
{
	_cleanup_free_ char *other = in_directory("other"), *link = NULL;

	build("", STRINGS(".debug_str", "abcdname", "byte 0"), "");
	subject_run("mv '%s/file' '%s'", directory, other);
	cr_assert_geq(asprintf(&link,
			       "	.section %s,\"\",@progbits\n	.asciz \"%s\"\n	.fill 20, 1, 7\n",
			       name, other),
		      0);
	build_form(NAME_FORM_GNU_STRP_ALT, "", link, "");
	open_file();
	expect_name(NULL);
}

/* libdw also knows the second name. If nobody gives it the file, it opens any path that the section contains. */
Test(resolver_dwarf, libdw_opens_no_supplementary_file)
{
	check_link_to_other_file(".gnu_debugaltlink");
}

Test(resolver_dwarf, libdw_opens_no_supplementary_file_of_the_old_compressed_form)
{
	check_link_to_other_file(".zgnu_debugaltlink");
}

/*
 * libdw reads the first section of a name. The linker decides the order, so the section without an end has each of
 * the two names once.
 */
static void check_two_sections(const char *sections)
{
	build("", sections, "");
	subject_run("objcopy --rename-section .other=.debug_str '%s/file'", directory);
	open_file();
	expect_name(NULL);
}

Test(resolver_dwarf, an_added_section_does_not_hide_that_one_has_no_end)
{
	check_two_sections(STRINGS(".debug_str", "abcdname", "byte 'x'")
				   STRINGS(".other", "abcdother", "byte 0"));
}

Test(resolver_dwarf, a_replaced_section_does_not_hide_that_one_has_no_end)
{
	check_two_sections(STRINGS(".other", "abcdname", "byte 'x'")
				   STRINGS(".debug_str", "abcdother", "byte 0"));
}

/*
 * A line program of `rows` rows for line 1 of a.c at the function, and one more. The assembler makes a section
 * .debug_line of its own.
 */
static void build_lines(unsigned int rows)
{
	_cleanup_free_ char *lines = NULL;

	cr_assert_geq(asprintf(&lines,
			       "	.section .other,\"\",@progbits\n"
			       "	.long lines_end - lines\n"
			       "lines:	.short 4\n"
			       "	.long header_end - header\n"
			       "header:	.byte 1, 1, 1, -5, 14, 13\n"
			       "	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1\n"
			       "	.byte 0\n"
			       "	.asciz \"a.c\"\n"
			       "	.byte 0, 0, 0\n"
			       "	.byte 0\n"
			       "header_end: .byte 0, 9, 2\n"
			       "	.quad function\n"
			       "	.fill %u, 1, 18\n"
			       "	.byte 2, 1, 0, 1, 1\n"
			       "lines_end:\n" STRINGS(".debug_str", "abcdname", "byte 0"),
			       rows),
		      0);
	build("", lines, "");
	subject_run(
		"cd '%s' && objcopy -R .debug_line file && objcopy --rename-section .other=.debug_line file",
		directory);
}

/* Returns whether the function has a source file. */
static bool has_file(void)
{
	struct symbol symbol = {0};
	bool has;

	open_file();
	cr_assert_eq(module_find(&module, FUNCTION, SYMBOL_CODE, false, &symbol), 0);
	cr_assert_eq(symbol.n_frames, 1);
	has = symbol.frames[0].file;
	if (has)
		cr_expect_str_eq(symbol.frames[0].file, "a.c");
	symbol_done(&symbol);
	return has;
}

Test(resolver_dwarf, a_function_has_the_file_of_its_line_program)
{
	build_lines(1000);
	cr_expect(has_file());
}

/* libdw would need more memory than the symbolizer may have, and end the process. */
Test(resolver_dwarf, a_line_program_of_too_many_rows_is_not_read)
{
	build_lines(DWARF_ROWS_MAX);
	cr_expect_not(has_file());
}

static u64 cpu_ns(void)
{
	struct timespec now;

	cr_assert_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

/* Each block refers to the same 4 million ranges. Without a limit they take 2.3 s, on the machine of the limits. */
Test(resolver_dwarf, blocks_with_millions_of_ranges_are_given_up)
{
	char blocks[64];
	u64 before_ns;

	(void)snprintf(blocks, sizeof(blocks),
		       "	.rept %d\n	.byte 3\n	.long 0\n	.endr\n", NUMBER_OF_BLOCKS);
	build(blocks,
	      STRINGS(".debug_str", "abcdname", "byte 0") "	.section .debug_ranges,\"\",@progbits\n"
							  "	.rept 4000000\n"
							  "	.quad 0x100000, 0x100001\n"
							  "	.endr\n"
							  "	.quad 0, 0\n",
	      "-Wl,--compress-debug-sections=zlib");
	open_file();
	/* The first search reads the sections and the units. */
	expect_name("name");
	before_ns = cpu_ns();
	expect_name("name");
	cr_expect_leq(cpu_ns() - before_ns, 2 * DWARF_FIND_NS);
}
