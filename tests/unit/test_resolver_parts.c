// SPDX-License-Identifier: GPL-2.0
/* Parts of the resolver: names, kernel symbols, start times of processes, and files below a root. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "subject.h"
#include "symbols/resolver/resolver.h"
#include "symbols/resolver/resolver_kernel.h"
#include "symbols/resolver/resolver_name.h"
#include "symbols/resolver/resolver_open.h"
#include "symbols/resolver/resolver_process.h"

static void expect_name(const char *symbol, const char *expected)
{
	_cleanup_free_ char *name = NULL;

	cr_assert_eq(resolver_name(symbol, &name), 0);
	cr_expect_str_eq(name, expected);
}

Test(resolver_name, cpp_names_are_demangled_and_others_kept)
{
	expect_name("main", "main");
	expect_name("i", "i");
	expect_name("_ZN3foo3barEi", "foo::bar(int)");
	expect_name("_ZNSt6vectorIiSaIiEE9push_backERKi",
		    "std::vector<int, std::allocator<int> >::push_back(int const&)");
	expect_name("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	expect_name("_RNvC6_123foo3bar", "123foo::bar");
	expect_name("_Zwhat is this", "_Zwhat is this");
	expect_name("_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]");
}

Test(resolver_name, unprintable_bytes_are_replaced)
{
	expect_name("a\nb\x1b[31m", "a\xef\xbf\xbd"
				    "0ab\xef\xbf\xbd"
				    "1b[31m");
	expect_name("caf\xc3", "caf\xef\xbf\xbd"
			       "c3");
	expect_name("\xc3\xa9", "\xc3\xa9");
	expect_name("\x7f", "\xef\xbf\xbd"
			    "7f");
}

/*
 * f(A<int, int>, ...), in which each further parameter is an A of the one before, twice. At most 37 parameters:
 * S_ is the template, and S0_ to SZ_ are the parameters. The caller frees the name.
 */
static char *doubling(int parameters)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *symbol = malloc(1024);
	size_t size;

	cr_assert_not_null(symbol);
	size = (size_t)sprintf(symbol, "_Z1f1AIiiE");
	for (int i = 0; i < parameters - 1; i++)
		size += (size_t)sprintf(symbol + size, "S_IS%c_S%c_E", digits[i], digits[i]);
	return symbol;
}

/* With 37 parameters, the demangled name would have 2.3 TB. Three show that the references are right. */
Test(resolver_name, a_name_that_expands_to_terabytes_is_not_demangled)
{
	_cleanup_free_ char *few = doubling(3);
	_cleanup_free_ char *many = doubling(37);

	expect_name(
		few,
		"f(A<int, int>, A<A<int, int>, A<int, int> >, A<A<A<int, int>, A<int, int> >, A<A<int, int>, A<int, int> > >)");
	cr_assert_lt(strlen(many), RESOLVER_NAME_MAX);
	expect_name(many, many);
}

Test(resolver_name, long_names_are_cut_between_characters)
{
	_cleanup_free_ char *symbol = malloc(5001);
	_cleanup_free_ char *name = NULL;

	memset(symbol, 'x', 5000);
	symbol[5000] = 0;
	memcpy(symbol + RESOLVER_NAME_MAX - 1, "\xc3\xa9", 2);
	cr_assert_eq(resolver_name(symbol, &name), 0);
	cr_expect_eq(strlen(name), RESOLVER_NAME_MAX - 1 + 3);
	cr_expect_str_eq(name + RESOLVER_NAME_MAX - 1, "\xe2\x80\xa6");
}

static struct kernel_symbols read_kernel(const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	struct kernel_symbols symbols;

	cr_assert_not_null(file);
	cr_assert_eq(kernel_symbols_read(file, &symbols), 0);
	(void)fclose(file);
	return symbols;
}

static void expect_kernel(const struct kernel_symbols *symbols, u64 address, enum symbol_kind kind,
			  const char *name, const char *module)
{
	const struct kernel_symbol *symbol = kernel_symbols_find(symbols, address, kind);

	cr_assert_eq(symbol != NULL, name != NULL, "%lx", (unsigned long)address);
	if (!symbol)
		return;
	cr_expect_str_eq(symbols->names + symbol->name, name);
	cr_expect_str_eq(kernel_symbols_module(symbols, symbol), module);
}

Test(resolver_kernel, symbols_of_the_kernel_and_of_modules_are_found)
{
	struct kernel_symbols symbols = read_kernel("0000000000000000 A fixed_percpu_data\n"
						    "ffffffff81000000 T _text\n"
						    "ffffffff81000000 T _stext\n"
						    "ffffffff81000100 t inner\n"
						    "ffffffff81040000 T far\n"
						    "ffffffff81800000 D data_of_it\n"
						    "ffffffff81900000 B _end\n"
						    "no line at all\n"
						    "ffffffffc0000000 t first\t[one]\n"
						    "ffffffffc0000040 t second\t[one]\n"
						    "ffffffffc0100000 d table\t[two]\n");

	expect_kernel(&symbols, 0xffffffff80ffffff, SYMBOL_CODE, NULL, NULL);
	expect_kernel(&symbols, 0xffffffff81000000, SYMBOL_CODE, "_text", "");
	expect_kernel(&symbols, 0xffffffff8103ffff, SYMBOL_CODE, "inner", "");
	expect_kernel(&symbols, 0xffffffff81800008, SYMBOL_DATA, "data_of_it", "");
	expect_kernel(&symbols, 0xffffffff81800008, SYMBOL_CODE, NULL, NULL);
	expect_kernel(&symbols, 0xffffffff81000100, SYMBOL_DATA, NULL, NULL);
	expect_kernel(&symbols, 0xffffffffc000003f, SYMBOL_CODE, "first", "one");
	/* The last symbol of a module ends at the end of its page. */
	expect_kernel(&symbols, 0xffffffffc0000fff, SYMBOL_CODE, "second", "one");
	expect_kernel(&symbols, 0xffffffffc0001000, SYMBOL_CODE, NULL, NULL);
	expect_kernel(&symbols, 0xffffffffc0100004, SYMBOL_DATA, "table", "two");
	cr_expect_eq(
		kernel_symbols_base(&symbols, kernel_symbols_find(&symbols, 0xffffffffc0000041, SYMBOL_CODE)),
		0xffffffffc0000000);
	cr_expect_eq(
		kernel_symbols_base(&symbols, kernel_symbols_find(&symbols, 0xffffffff81040000, SYMBOL_CODE)),
		0xffffffff81000000);
	kernel_symbols_done(&symbols);
}

/* The offset in a module counts from its lowest address, wherever its symbols are listed. */
Test(resolver_kernel, the_base_of_a_module_is_its_lowest_address)
{
	static const struct {
		u64 address, base;
	} expected[] = {{0xffffffffc0000040, 0xffffffffc0000000},
			{0xffffffffc0100000, 0xffffffffc0100000},
			{0xffffffffc0002000, 0xffffffffc0000000},
			{0xffffffffc0200000, 0xffffffffc0200000},
			{0xffffffffc0201000, 0xffffffffc0200000}};
	struct kernel_symbols symbols = read_kernel("ffffffffc0000040 t second\t[one]\n"
						    "ffffffffc0100000 t alone\t[on]\n"
						    "ffffffffc0201000 t later\t[ones]\n"
						    "ffffffffc0002000 t third\t[one]\n"
						    "ffffffffc0200000 t sooner\t[ones]\n"
						    "ffffffffc0000000 t first\t[one]\n");

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct kernel_symbol *symbol =
			kernel_symbols_find(&symbols, expected[i].address, SYMBOL_CODE);

		cr_assert_not_null(symbol);
		cr_expect_eq(kernel_symbols_base(&symbols, symbol), expected[i].base);
	}
	kernel_symbols_done(&symbols);
}

Test(resolver_kernel, hidden_addresses_name_nothing)
{
	struct kernel_symbols symbols = read_kernel("0000000000000000 T _text\n0000000000000000 T other\n");

	cr_expect_eq(symbols.n, 0);
	expect_kernel(&symbols, 0xffffffff81000000, SYMBOL_CODE, NULL, NULL);
	kernel_symbols_done(&symbols);
}

Test(resolver_process, the_start_time_of_a_process_is_read)
{
	static const char text[] =
		"12 (a) b) 3 (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
	u64 time;

	cr_assert_eq(process_parse_start_time(text, &time), 0);
	cr_expect_eq(time, 4711);
	cr_expect_eq(process_parse_start_time("", &time), -EINVAL);
	cr_expect_eq(process_parse_start_time("12 (a) S 1 2", &time), -EINVAL);
	cr_expect_eq(process_parse_start_time("12 a S 1 2 3", &time), -EINVAL);
}

/* Only regular files below the root are opened, and opening never blocks. */
Test(resolver_open, files_are_opened_below_the_root_of_the_process)
{
	char *directory = subject_directory();
	struct stat found;
	int root, fd;

	subject_run(
		"cd '%s' && mkdir -p in/etc && echo inside >in/etc/passwd && echo outside >secret && ln -s ../secret in/up && ln -s /etc/passwd in/absolute && ln -s ../../../../../../etc/passwd in/far && ln -s loop in/loop && mkfifo in/fifo && mknod in/device c 1 5 && truncate -s 1001 in/large && ln -s /proc/self/root/etc/passwd in/magic",
		directory);
	root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = openat(root, "in", O_PATH | O_DIRECTORY | O_CLOEXEC);
	(void)close(root);
	root = fd;
	for (size_t i = 0; i < 2; i++) {
		static const char *const inside[] = {"/absolute", "/far"};
		char text[16] = "";

		fd = open_below(root, inside[i], true, 1000, &found);
		cr_assert_geq(fd, 0, "%s", inside[i]);
		cr_expect_eq(read(fd, text, sizeof(text) - 1), 7);
		cr_expect_str_eq(text, "inside\n");
		(void)close(fd);
	}
	cr_expect_eq(open_below(root, "/up", true, 1000, &found), -ENOENT);
	cr_expect_eq(open_below(root, "/../secret", true, 1000, &found), -ENOENT);
	cr_expect_eq(open_below(root, "/magic", true, 1000, &found), -ENOENT);
	cr_expect_eq(open_below(root, "/loop", true, 1000, &found), -ELOOP);
	cr_expect_eq(open_below(root, "/absolute", false, 1000, &found), -EINVAL);
	cr_expect_eq(open_below(root, "/fifo", true, 1000, &found), -EINVAL);
	cr_expect_eq(open_below(root, "/device", true, 1000, &found), -EINVAL);
	cr_expect_eq(open_below(root, "/etc", true, 1000, &found), -EINVAL);
	cr_expect_eq(open_below(root, "/large", true, 1000, &found), -EFBIG);
	(void)close(root);
	subject_remove(directory);
}
