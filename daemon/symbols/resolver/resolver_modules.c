// SPDX-License-Identifier: GPL-2.0
/* Finds the module of a mapping, and keeps the number of open modules bounded. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/monotonic.h"
#include "symbols/resolver/resolver_open.h"
#include "symbols/resolver/resolver_state.h"

/* Maximum files that are opened each time a process is read. The others are opened when they are needed. */
#define EAGER_FILES 64

void resolver_shed(struct resolver *resolver, const struct module *kept)
{
	for (;;) {
		struct module *oldest = NULL;
		u64 bytes = 0;

		for (size_t i = 0; i < RESOLVER_MODULES_MAX; i++) {
			struct module *module = &resolver->modules[i];

			bytes += module_bytes(module);
			if (module != kept && module_bytes(module) &&
			    (!oldest || module->used < oldest->used))
				oldest = module;
		}
		if (!oldest || bytes <= RESOLVER_MODULE_BYTES_MAX)
			return;
		module_forget(oldest);
	}
}

static bool is_same_file(const struct module *module, const struct stat *found,
			 const struct module_root *root)
{
	return module->serial && module->device == found->st_dev && module->inode == found->st_ino &&
	       module->size == found->st_size && module->modified.tv_sec == found->st_mtim.tv_sec &&
	       module->modified.tv_nsec == found->st_mtim.tv_nsec && module->root.device == root->device &&
	       module->root.inode == root->inode && module->root.mounts == root->mounts;
}

/* Returns the module of the file, or an empty one for it, with `serial` 0. */
static struct module *place_for(struct resolver *resolver, const struct stat *found,
				const struct module_root *root)
{
	struct module *oldest = &resolver->modules[0];

	for (size_t i = 0; i < RESOLVER_MODULES_MAX; i++) {
		struct module *module = &resolver->modules[i];

		if (is_same_file(module, found, root))
			return module;
		if (module->used < oldest->used)
			oldest = module;
	}
	module_done(oldest);
	return oldest;
}

/*
 * Opens the file of the mapping. Returns 0 also if the file cannot be opened: `module_looked` delays the next
 * attempt.
 */
static int open_module(struct resolver *resolver, const struct process *process,
		       const struct mapping *mapping)
{
	struct mapped_file *file = mapping->file;
	_cleanup_close_ int fd = -1, root_fd = -1;
	struct module_root root;
	struct module *module;
	struct stat found;
	bool by_name;
	int r;

	file->module_looked = monotonic_ns();
	if (resolver_process_root(resolver->proc, process->pid, &root) < 0)
		return 0;
	fd = open_mapped(resolver->proc, process->pid, mapping, process_path(process, file->path), &found,
			 &by_name);
	if (fd < 0)
		return 0;
	module = place_for(resolver, &found, &root);
	if (!module->serial) {
		if (root.inode)
			root_fd = open_root(resolver->proc, process->pid);
		r = module_open(TAKE_FD(fd), &found, process_path(process, file->path), resolver->own_root,
				root_fd, module);
		if (r < 0)
			return r;
		module->root = root;
		module->serial = ++resolver->serial;
	}
	module->used = ++resolver->uses;
	/* A file found only by its name must have the build id of the mapping. */
	if (by_name && (!module->elf || module->elf->build_id_size != file->build_id_size ||
			memcmp(module->elf->build_id, file->build_id, file->build_id_size) != 0))
		return 0;
	file->module = (size_t)(module - resolver->modules);
	file->module_serial = module->serial;
	if (module->elf && module->elf->build_id_size) {
		memcpy(file->build_id, module->elf->build_id, module->elf->build_id_size);
		file->build_id_size = module->elf->build_id_size;
	}
	return 0;
}

static struct module *held_module(struct resolver *resolver, const struct mapped_file *file)
{
	struct module *module = &resolver->modules[file->module];

	return file->module_serial && module->serial == file->module_serial ? module : NULL;
}

bool resolver_is_file(const struct mapped_file *file)
{
	return file && file->path[0] == '/' && file->path[1] != '/';
}

int resolver_module_of(struct resolver *resolver, const struct process *process,
		       const struct mapping *mapping, struct module **ret)
{
	u64 looked = mapping->file->module_looked;
	int r = 0;

	*ret = held_module(resolver, mapping->file);
	if (!*ret && (!looked || monotonic_ns() - looked >= LOOK_AGAIN_NS)) {
		r = open_module(resolver, process, mapping);
		*ret = held_module(resolver, mapping->file);
	}
	if (*ret)
		(*ret)->used = ++resolver->uses;
	return r;
}

int resolver_open_code(struct resolver *resolver, const struct process *process)
{
	size_t opened = 0;

	for (size_t i = 0; i < process->maps->n && opened < EAGER_FILES; i++) {
		const struct mapping *mapping = &process->maps->mappings[i];
		int r;

		if (!(mapping->protection & PROT_EXEC) || !resolver_is_file(mapping->file) ||
		    held_module(resolver, mapping->file))
			continue;
		r = open_module(resolver, process, mapping);
		if (r < 0)
			return r;
		opened++;
	}
	return 0;
}

int resolver_open_mapping(struct resolver *resolver, const struct process *process,
			  const struct mapping *mapping)
{
	if (!(mapping->protection & PROT_EXEC) || !resolver_is_file(mapping->file) ||
	    held_module(resolver, mapping->file))
		return 0;
	return open_module(resolver, process, mapping);
}
