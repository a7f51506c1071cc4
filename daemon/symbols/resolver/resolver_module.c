// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver_module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "symbols/resolver/resolver_name.h"
#include "symbols/resolver/resolver_open.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"

static bool has_build_id(const struct elf_file *file, const u8 *build_id, size_t size)
{
	return file->build_id_size && file->build_id_size == size &&
	       memcmp(file->build_id, build_id, size) == 0;
}

static int open_elf(int root, const char *path, struct elf_file **ret)
{
	_cleanup_close_ int fd = -1;
	struct stat found;
	int r;

	fd = open_below(root, path, true, RESOLVER_FILE_MAX, &found);
	if (fd < 0)
		return fd;
	r = elf_file_new(fd, ret);
	if (r == 0)
		(void)TAKE_FD(fd);
	return r;
}

/*
 * Opens the supplementary file of the debug file. A relative name starts at the directory of the debug file.
 */
static void find_supplementary(struct module *module, int root, const char *path)
{
	const struct elf_file *debug = module->debug ? module->debug : module->elf;
	_cleanup_(elf_file_freep) struct elf_file *found = NULL;
	_cleanup_free_ char *place = NULL;
	const u8 *build_id;
	const char *name;
	size_t size;
	int r;

	name = elf_file_debug_altlink(debug, &build_id, &size);
	if (!name || root < 0)
		return;
	r = name[0] == '/' ? asprintf(&place, "%s", name)
			   : asprintf(&place, "%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
	if (r < 0) {
		place = NULL;
		return;
	}
	if (open_elf(root, place, &found) < 0 || !has_build_id(found, build_id, size))
		return;
	module->supplementary = TAKE_PTR(found);
}

static bool take_debug(struct module *module, int root, const char *path)
{
	_cleanup_(elf_file_freep) struct elf_file *found = NULL;

	if (root < 0 || open_elf(root, path, &found) < 0 || !(found->has_symbols || found->has_dwarf) ||
	    !has_build_id(found, module->elf->build_id, module->elf->build_id_size))
		return false;
	module->debug = TAKE_PTR(found);
	find_supplementary(module, root, path);
	return true;
}

static bool find_by_build_id(struct module *module, int root)
{
	char path[sizeof(DEBUG_DIRECTORY) + 2UL * SYMBOL_BUILD_ID_MAX + 32];
	const struct elf_file *elf = module->elf;
	char *to;

	if (elf->build_id_size < 2)
		return false;
	to = path + sprintf(path, DEBUG_DIRECTORY "/.build-id/%02x/", elf->build_id[0]);
	for (size_t i = 1; i < elf->build_id_size; i++)
		to += sprintf(to, "%02x", elf->build_id[i]);
	memcpy(to, ".debug", sizeof(".debug"));
	return take_debug(module, root, path);
}

static bool has_crc(int fd, u32 expected)
{
	_cleanup_free_ u8 *piece = malloc(65536);
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;

	while (piece && (u64)at < RESOLVER_FILE_MAX) {
		ssize_t size = pread(fd, piece, 65536, at);

		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			return size == 0 && crc == expected;
		crc = crc32(crc, piece, (uInt)size);
		at += size;
	}
	return false;
}

static bool take_linked(struct module *module, int root, const char *path, u32 crc)
{
	_cleanup_(elf_file_freep) struct elf_file *found = NULL;

	if (open_elf(root, path, &found) < 0 || !(found->has_symbols || found->has_dwarf))
		return false;
	if (module->elf->build_id_size && found->build_id_size) {
		if (!has_build_id(found, module->elf->build_id, module->elf->build_id_size))
			return false;
	} else if (!has_crc(found->fd, crc)) {
		return false;
	}
	module->debug = TAKE_PTR(found);
	find_supplementary(module, root, path);
	return true;
}

static bool find_by_link(struct module *module, int root, const char *path)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", DEBUG_DIRECTORY "%.*s/%s"};
	const char *slash = strrchr(path, '/');
	const char *name;
	u32 crc;

	name = elf_file_debug_link(module->elf, &crc);
	if (!name || !slash || root < 0 || strchr(name, '/'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		_cleanup_free_ char *place = NULL;

		/* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): the formats are those above */
		if (asprintf(&place, forms[i], (int)(slash - path), path, name) < 0) {
			place = NULL;
			return false;
		}
		if (take_linked(module, root, place, crc))
			return true;
	}
	return false;
}

int module_open(int fd, const struct stat *found, const char *path, int own_root, int root,
		struct module *ret)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->device = found->st_dev;
	ret->inode = found->st_ino;
	ret->size = found->st_size;
	ret->modified = found->st_mtim;
	r = elf_file_new(fd, &ret->elf);
	if (r < 0) {
		(void)close(fd);
		return r == -ENOEXEC ? 0 : r;
	}
	if (ret->elf->has_symbols && ret->elf->has_dwarf) {
		if (path[0] == '/')
			find_supplementary(ret, root < 0 ? own_root : root, path);
		return 0;
	}
	/* Prefer this system's files with the same build id: its administrator installed them. */
	if (!find_by_build_id(ret, own_root) && !find_by_build_id(ret, root))
		(void)find_by_link(ret, root < 0 ? own_root : root, path);
	return 0;
}

int module_of_memory(char *image, size_t size, struct module *ret)
{
	memset(ret, 0, sizeof(*ret));
	return elf_file_new_memory(image, size, &ret->elf);
}

static void forget_symbols(struct module *module)
{
	module->dwarf = dwarf_file_free(module->dwarf);
	elf_symbols_done(&module->code);
	elf_symbols_done(&module->data);
	module->has_code = false;
	module->has_data = false;
	module->looked_for_dwarf = false;
}

void module_forget(struct module *module)
{
	forget_symbols(module);
	if (module->elf)
		elf_file_forget(module->elf);
	if (module->debug)
		elf_file_forget(module->debug);
	if (module->supplementary)
		elf_file_forget(module->supplementary);
}

void module_done(struct module *module)
{
	forget_symbols(module);
	elf_file_free(module->elf);
	elf_file_free(module->debug);
	elf_file_free(module->supplementary);
	memset(module, 0, sizeof(*module));
}

static int read_symbols(struct module *module, enum symbol_kind kind, struct elf_symbols *symbols)
{
	int r = 0;

	if (module->debug)
		r = elf_file_symbols(module->debug, kind, symbols);
	if (r >= 0)
		r = elf_file_symbols(module->elf, kind, symbols);
	/*
	 * Use no symbols if there are too many: if some were left out, addresses could get the names of their
	 * neighbours.
	 */
	if (r < 0)
		elf_symbols_done(symbols);
	elf_symbols_sort(symbols);
	return r == -ENOMEM ? r : 0;
}

/*
 * The types of functions in elfutils/debuginfod.h. Like libdw, pebsd loads the library only if it is
 * installed.
 */
typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *build_id, int size, char **path);
typedef void end_function(void *client);

static void ask_debuginfod(struct module *module)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	begin_function *begin = library ? (begin_function *)dlsym(library, "debuginfod_begin") : NULL;
	find_function *find = library ? (find_function *)dlsym(library, "debuginfod_find_debuginfo") : NULL;
	end_function *end = library ? (end_function *)dlsym(library, "debuginfod_end") : NULL;
	const struct elf_file *elf = module->elf;
	struct elf_file *found;
	void *client;
	int fd;

	/* The library is never unloaded, because it registers exit handlers. */
	if (!begin || !find || !end)
		return;
	client = begin();
	if (!client)
		return;
	fd = find(client, elf->build_id, elf->build_id_size, NULL);
	end(client);
	if (fd < 0)
		return;
	if (elf_file_new(fd, &found) < 0)
		(void)close(fd);
	else if (!has_build_id(found, elf->build_id, elf->build_id_size))
		elf_file_free(found);
	else
		module->debug = found;
}

static int read_dwarf(struct module *module)
{
	struct elf_file *file = module->debug && module->debug->has_dwarf ? module->debug : module->elf;
	int r;

	module->looked_for_dwarf = true;
	r = dwarf_file_new(file, module->supplementary, &module->dwarf);
	return r == -ENOMEM ? r : 0;
}

static int find_data(struct module *module, u64 address, struct symbol *ret)
{
	const struct elf_symbol *symbol = elf_symbols_find(&module->data, address);

	return symbol ? resolver_name_symbol(symbol->name, address - symbol->start, ret) : 0;
}

static int find_code(struct module *module, u64 address, struct symbol *ret)
{
	const struct elf_symbol *symbol = elf_symbols_find(&module->code, address);
	const char *name = symbol ? symbol->name : NULL;
	u64 offset = symbol ? address - symbol->start : 0;
	int r = 0;

	if (module->dwarf)
		r = dwarf_file_find(module->dwarf, address, name, offset, ret);
	if (r < 0 || ret->n_frames || !name)
		return r;
	return resolver_name_symbol(name, offset, ret);
}

int module_find(struct module *module, u64 address, enum symbol_kind kind, bool debuginfod,
		struct symbol *ret)
{
	struct elf_symbols *symbols = kind == SYMBOL_DATA ? &module->data : &module->code;
	bool *has = kind == SYMBOL_DATA ? &module->has_data : &module->has_code;
	int r = 0;

	if (!module->elf || !module->elf->elf)
		return 0;
	if (debuginfod && !module->asked_debuginfod && !module->debug && module->elf->build_id_size &&
	    !(module->elf->has_symbols && module->elf->has_dwarf)) {
		module->asked_debuginfod = true;
		ask_debuginfod(module);
	}
	if (!*has) {
		*has = true;
		r = read_symbols(module, kind, symbols);
	}
	if (r == 0 && kind == SYMBOL_CODE && !module->looked_for_dwarf)
		r = read_dwarf(module);
	if (r < 0)
		return r;
	return kind == SYMBOL_DATA ? find_data(module, address, ret) : find_code(module, address, ret);
}

u64 module_bytes(const struct module *module)
{
	return module->code.room * sizeof(struct elf_symbol) + module->code.bytes +
	       module->data.room * sizeof(struct elf_symbol) + module->data.bytes +
	       (module->dwarf ? dwarf_file_bytes(module->dwarf) : 0);
}
