// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver_kernel.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define PAGE_BYTES 4096ULL

/* Appends `length` bytes of text and a NUL to the names. */
static int add_name(struct kernel_symbols *symbols, const char *text, size_t length, u32 *ret)
{
	size_t needed = symbols->names_size + length + 1;

	if (needed > KERNEL_NAMES_MAX)
		return -E2BIG;
	if (needed > symbols->names_room) {
		size_t room = symbols->names_room ? symbols->names_room : 65536;
		char *names;

		while (room < needed)
			room *= 2;
		names = realloc(symbols->names, room);
		if (!names)
			return -ENOMEM;
		symbols->names = names;
		symbols->names_room = room;
	}
	memcpy(symbols->names + symbols->names_size, text, length);
	symbols->names[symbols->names_size + length] = 0;
	*ret = (u32)symbols->names_size;
	symbols->names_size = needed;
	return 0;
}

static int add_module(struct kernel_symbols *symbols, const char *name, size_t length, u32 *ret)
{
	struct kernel_module *added;
	u32 name_at = 0;
	int r;

	if (symbols->n_modules == symbols->modules_room) {
		size_t room = symbols->modules_room ? 2 * symbols->modules_room : 64;

		added = reallocarray(symbols->modules, room, sizeof(*added));
		if (!added)
			return -ENOMEM;
		symbols->modules = added;
		symbols->modules_room = room;
	}
	r = add_name(symbols, name, length, &name_at);
	if (r < 0)
		return r;
	*ret = (u32)symbols->n_modules++;
	symbols->modules[*ret] = (struct kernel_module){.name = name_at, .start = UINT64_MAX};
	return 0;
}

static bool is_module(const struct kernel_symbols *symbols, size_t i, const char *name, size_t length)
{
	const char *its_name = symbols->names + symbols->modules[i].name;

	return strncmp(its_name, name, length) == 0 && !its_name[length];
}

/* Finds or adds a module. It is usually that of the previous symbol. */
static int module_of(struct kernel_symbols *symbols, const char *name, size_t length, u32 *ret)
{
	*ret = symbols->n ? symbols->symbols[symbols->n - 1].module : 0;
	if (is_module(symbols, *ret, name, length))
		return 0;
	for (size_t i = 0; i < symbols->n_modules; i++) {
		*ret = (u32)i;
		if (is_module(symbols, i, name, length))
			return 0;
	}
	return add_module(symbols, name, length, ret);
}

static int add(struct kernel_symbols *symbols, u64 address, bool code, const char *name, size_t length,
	       const char *module, size_t module_length)
{
	struct kernel_symbol *added;
	u32 name_at = 0, module_at = 0;
	int r;

	if (symbols->n >= KERNEL_SYMBOLS_MAX)
		return -E2BIG;
	if (symbols->n == symbols->room) {
		size_t room = symbols->room ? 2 * symbols->room : 4096;

		added = reallocarray(symbols->symbols, room, sizeof(*added));
		if (!added)
			return -ENOMEM;
		symbols->symbols = added;
		symbols->room = room;
	}
	r = module_of(symbols, module, module_length, &module_at);
	if (r == 0)
		r = add_name(symbols, name, length, &name_at);
	if (r < 0)
		return r;
	added = &symbols->symbols[symbols->n++];
	if (address < symbols->modules[module_at].start)
		symbols->modules[module_at].start = address;
	added->start = address;
	added->name = name_at;
	added->module = module_at;
	added->code = code;
	return 0;
}

/* A line is like "ffffffff81000000 T _text" or "ffffffffc0000000 t init\t[module]". */
static int read_line(struct kernel_symbols *symbols, const char *line)
{
	size_t length, module_length = 0;
	const char *name, *module = "";
	bool code;
	char *end;
	u64 address;

	errno = 0;
	address = strtoull(line, &end, 16);
	if (errno || end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return 0;
	name = end + 3;
	length = strcspn(name, "\t \n");
	if (!length)
		return 0;
	if (!SYMBOL_IS_KERNEL(address))
		return 0;
	if (!strchr("tTwWdDbBrRvV", end[1]))
		return 0;
	code = strchr("tTwW", end[1]);
	if (strncmp(name, "_text", length) == 0 && length == 5)
		symbols->text = address;
	if (strncmp(name, "_end", length) == 0 && length == 4)
		symbols->end = address;
	module = name + length + strspn(name + length, "\t ");
	if (*module == '[') {
		module++;
		module_length = strcspn(module, "]\n");
	}
	return add(symbols, address, code, name, length, module, module_length);
}

static int compare(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

int kernel_symbols_read(FILE *file, struct kernel_symbols *ret)
{
	struct kernel_symbols symbols = {};
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	u32 kernel;
	int r = add_module(&symbols, "", 0, &kernel);

	errno = 0;
	while (r == 0 && getline(&line, &room, file) >= 0)
		r = read_line(&symbols, line);
	if (r == 0 && ferror(file))
		r = errno ? -errno : -EIO;
	if (r < 0) {
		kernel_symbols_done(&symbols);
		return r;
	}
	if (symbols.n)
		qsort(symbols.symbols, symbols.n, sizeof(*symbols.symbols), compare);
	*ret = symbols;
	return 0;
}

void kernel_symbols_done(struct kernel_symbols *symbols)
{
	free(symbols->symbols);
	free(symbols->modules);
	free(symbols->names);
	memset(symbols, 0, sizeof(*symbols));
}

/*
 * Returns the end of the symbol: the start of the next symbol if that is in the same page, or of the same
 * module and close enough. In the kernel's image any distance is close enough, elsewhere KERNEL_SYMBOL_REACH.
 * Otherwise returns the end of the page.
 */
static u64 end_of(const struct kernel_symbols *symbols, size_t index)
{
	const struct kernel_symbol *symbol = &symbols->symbols[index];
	u64 page_end = (symbol->start | (PAGE_BYTES - 1)) + 1;

	for (size_t i = index + 1; i < symbols->n; i++) {
		const struct kernel_symbol *next = &symbols->symbols[i];
		bool in_image = symbol->start >= symbols->text && next->start <= symbols->end;

		if (next->start == symbol->start)
			continue;
		if (next->module == symbol->module &&
		    (in_image || next->start - symbol->start <= KERNEL_SYMBOL_REACH))
			return next->start;
		return next->start < page_end ? next->start : page_end;
	}
	return page_end;
}

const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols, u64 address,
						enum symbol_kind kind)
{
	const struct kernel_symbol *found = NULL;
	size_t low = 0, high = symbols->n;
	u64 start;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= end_of(symbols, low - 1))
		return NULL;
	/* If several symbols start there, use the first of the kind in kallsyms' order. */
	start = symbols->symbols[low - 1].start;
	for (size_t i = low; i-- > 0 && symbols->symbols[i].start == start;) {
		if (symbols->symbols[i].code == (kind == SYMBOL_CODE))
			found = &symbols->symbols[i];
	}
	return found;
}

const char *kernel_symbols_module(const struct kernel_symbols *symbols, const struct kernel_symbol *symbol)
{
	return symbols->names + symbols->modules[symbol->module].name;
}

u64 kernel_symbols_base(const struct kernel_symbols *symbols, const struct kernel_symbol *symbol)
{
	if (symbol->module)
		return symbols->modules[symbol->module].start;
	return symbols->text && symbols->text <= symbol->start ? symbols->text : symbol->start;
}

u64 kernel_symbols_bytes(const struct kernel_symbols *symbols)
{
	return symbols->room * sizeof(*symbols->symbols) + symbols->modules_room * sizeof(*symbols->modules) +
	       symbols->names_room;
}
