// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/monotonic.h"
#include "symbols/resolver/resolver_name.h"
#include "symbols/resolver/resolver_state.h"

/* After this time, the mappings of a process are read again even if an address was found in them. */
#define FRESH_NS (5 * NSEC_PER_SEC)

/*
 * Reading a process with very many mappings takes long, and all other requests wait meanwhile. At most
 * 1/READ_PART of the time is spent on reading one process, however many requests need it.
 */
#define READ_PART 50

#define VDSO_BYTES_MAX (64UL * 1024)

/*
 * Copies the vdso of this process. Processes of the same kind have the same vdso: an address in another
 * process is looked up in this copy only if the bytes are equal.
 */
static int copy_vdso(struct resolver *resolver)
{
	_cleanup_(maps_unrefp) struct maps *maps = NULL;
	_cleanup_fclose_ FILE *file = fopen("/proc/self/maps", "re");
	int r;

	if (!file)
		return 0;
	r = maps_read(file, &maps);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < maps->n; i++) {
		const struct mapping *mapping = &maps->mappings[i];
		size_t size = mapping->end - mapping->start;

		if (!mapping->file || strcmp(mapping->file->path, "[vdso]") != 0 || size > VDSO_BYTES_MAX)
			continue;
		resolver->vdso_image = malloc(size);
		if (!resolver->vdso_image)
			return -ENOMEM;
		memcpy(resolver->vdso_image, (const void *)(uintptr_t)mapping->start, size); // NOLINT
		resolver->vdso_size = size;
		r = module_of_memory(resolver->vdso_image, size, &resolver->vdso);
		return r == -ENOMEM ? r : 0;
	}
	return 0;
}

int resolver_new(const struct resolver_settings *settings, struct resolver **ret)
{
	_cleanup_(resolver_freep) struct resolver *resolver = calloc(1, sizeof(*resolver));
	int r;

	if (!resolver)
		return -ENOMEM;
	resolver->proc = settings->proc;
	resolver->debuginfod = settings->debuginfod;
	resolver->kallsyms = -1;
	resolver->own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (settings->kallsyms)
		resolver->kallsyms = open(settings->kallsyms, O_RDONLY | O_CLOEXEC);
	r = copy_vdso(resolver);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(resolver);
	return 0;
}

struct resolver *resolver_free(struct resolver *resolver)
{
	if (!resolver)
		return NULL;
	for (size_t i = 0; i < RESOLVER_BUCKETS; i++) {
		while (resolver->processes[i]) {
			struct process *process = resolver->processes[i];

			resolver->processes[i] = process->next;
			resolver_process_free(process);
		}
	}
	for (size_t i = 0; i < RESOLVER_MODULES_MAX; i++)
		module_done(&resolver->modules[i]);
	module_done(&resolver->vdso);
	free(resolver->vdso_image);
	kernel_symbols_done(&resolver->kernel);
	if (resolver->kallsyms >= 0)
		(void)close(resolver->kallsyms);
	if (resolver->own_root >= 0)
		(void)close(resolver->own_root);
	free(resolver);
	return NULL;
}

static struct process *known(struct resolver *resolver, u32 pid)
{
	struct process *process = resolver->processes[pid % RESOLVER_BUCKETS];

	while (process && process->pid != pid)
		process = process->next;
	if (process)
		process->used = ++resolver->uses;
	return process;
}

static void forget(struct resolver *resolver, struct process *process)
{
	struct process **place = &resolver->processes[process->pid % RESOLVER_BUCKETS];

	while (*place != process)
		place = &(*place)->next;
	*place = process->next;
	resolver->n_processes--;
	if (process->jit.fd >= 0)
		resolver->n_jit_files--;
	resolver_process_free(process);
}

/* Removes the least recently used processes, except `kept`, while a limit is exceeded. */
static void make_room(struct resolver *resolver, const struct process *kept)
{
	for (;;) {
		struct process *oldest = NULL;
		u64 mappings = 0, jit_bytes = 0;

		for (size_t i = 0; i < RESOLVER_BUCKETS; i++) {
			for (struct process *process = resolver->processes[i]; process;
			     process = process->next) {
				mappings += process->maps->n;
				jit_bytes += jit_map_bytes(&process->jit.map);
				if (process != kept && (!oldest || process->used < oldest->used))
					oldest = process;
			}
		}
		if (!oldest || (resolver->n_processes <= SYMBOL_PROCESSES_MAX &&
				mappings <= RESOLVER_ALL_MAPPINGS_MAX && jit_bytes <= RESOLVER_JIT_BYTES_MAX))
			return;
		forget(resolver, oldest);
	}
}

static int enter(struct resolver *resolver, u32 pid, struct process **ret)
{
	struct process *process;
	int r = resolver_process_new(pid, &process);

	if (r < 0)
		return r;
	process->used = ++resolver->uses;
	process->next = resolver->processes[pid % RESOLVER_BUCKETS];
	resolver->processes[pid % RESOLVER_BUCKETS] = process;
	resolver->n_processes++;
	make_room(resolver, process);
	*ret = process;
	return 0;
}

static int reset(struct resolver *resolver, struct process *process)
{
	if (process->jit.fd >= 0)
		resolver->n_jit_files--;
	return resolver_process_reset(process);
}

static void open_jit(struct resolver *resolver, struct process *process)
{
	process->jit_looked = monotonic_ns();
	if (process->jit.fd >= 0 || resolver->n_jit_files >= JIT_FILES_MAX)
		return;
	jit_file_open(resolver->proc, process->pid, &process->jit);
	if (process->jit.fd >= 0)
		resolver->n_jit_files++;
}

/*
 * Reads the mappings of the process and opens its files. -ESRCH: the process has ended. Its entry keeps its
 * mappings, and only `read` and `took` change.
 */
static int look_at(struct resolver *resolver, struct process *process)
{
	u64 began = monotonic_ns();
	int r = resolver_process_read(process, resolver->proc);

	process->read = monotonic_ns();
	process->took = process->read - began;
	if (r < 0)
		return r;
	make_room(resolver, process);
	open_jit(resolver, process);
	return resolver_open_code(resolver, process);
}

static bool may_look_again(const struct process *process, u64 after_ns)
{
	u64 since = monotonic_ns() - process->read;

	return since >= after_ns && since / READ_PART >= process->took;
}

/* Detects pid reuse. On reuse, resets the entry to the new process. */
static int check(struct resolver *resolver, struct process *process)
{
	u64 start_time;
	int r = 0;

	process->checked = monotonic_ns();
	if (process_start_time(resolver->proc, process->pid, &start_time) < 0)
		return 0;
	if (process->start_time && process->start_time != start_time)
		r = reset(resolver, process);
	process->start_time = start_time;
	return r;
}

int resolver_process(struct resolver *resolver, u32 pid)
{
	struct process *process = known(resolver, pid);
	bool was_known = process;
	int r = 0;

	if (!process)
		r = enter(resolver, pid, &process);
	if (r == 0)
		r = check(resolver, process);
	if (r == 0)
		r = look_at(resolver, process);
	if (r < 0 && process && !was_known)
		forget(resolver, process);
	return r;
}

int resolver_mapped(struct resolver *resolver, const struct symbol_mapping *mapping)
{
	struct process *process = known(resolver, mapping->pid);
	const struct mapping *entered;
	int r = 0;

	if (!process)
		r = enter(resolver, mapping->pid, &process);
	if (r == 0 && process->maps->references > 1) {
		struct maps *copy;

		r = maps_copy(process->maps, &copy);
		if (r == 0)
			process_set_maps(process, copy);
	}
	if (r == 0)
		r = maps_enter(process->maps, mapping);
	if (r < 0)
		return r;
	make_room(resolver, process);
	entered = maps_find(process->maps, mapping->start);
	return entered ? resolver_open_mapping(resolver, process, entered) : 0;
}

void resolver_executed(struct resolver *resolver, u32 pid)
{
	struct process *process = known(resolver, pid);

	if (process && reset(resolver, process) < 0)
		forget(resolver, process);
}

int resolver_forked(struct resolver *resolver, u32 pid, u32 parent)
{
	const struct process *from;
	struct process *process;
	int r;

	if (pid == parent)
		return 0;
	process = known(resolver, pid);
	if (process)
		forget(resolver, process);
	if (!known(resolver, parent))
		return 0;
	r = enter(resolver, pid, &process);
	if (r < 0)
		return r;
	/* The parent may have been removed to make room. */
	from = known(resolver, parent);
	if (from)
		process_set_maps(process, maps_ref(from->maps));
	if (from && from->root)
		process->root = strdup(from->root);
	return 0;
}

/* Time after which kallsyms is read again for an address that it does not have. */
#define KERNEL_AGAIN_NS (60 * NSEC_PER_SEC)

static int read_kernel(struct resolver *resolver)
{
	_cleanup_fclose_ FILE *file = NULL;
	struct kernel_symbols read;
	int fd, r;

	resolver->kernel_read = monotonic_ns();
	if (resolver->kallsyms < 0 || lseek(resolver->kallsyms, 0, SEEK_SET) < 0)
		return 0;
	fd = fcntl(resolver->kallsyms, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return 0;
	file = fdopen(fd, "r");
	if (!file) {
		(void)close(fd);
		return -ENOMEM;
	}
	r = kernel_symbols_read(file, &read);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	kernel_symbols_done(&resolver->kernel);
	resolver->kernel = read;
	return 0;
}

static int find_kernel(struct resolver *resolver, const struct symbol_query *query, struct symbol *ret)
{
	const struct kernel_symbol *symbol =
		kernel_symbols_find(&resolver->kernel, query->address, query->kind);
	int r;

	ret->region = SYMBOL_KERNEL;
	/* Modules and BPF programs may have been loaded since kallsyms was read. */
	if (!symbol &&
	    (!resolver->kernel_read || monotonic_ns() - resolver->kernel_read >= KERNEL_AGAIN_NS)) {
		r = read_kernel(resolver);
		if (r < 0)
			return r;
		symbol = kernel_symbols_find(&resolver->kernel, query->address, query->kind);
	}
	if (!symbol)
		return 0;
	ret->address = query->address - kernel_symbols_base(&resolver->kernel, symbol);
	if (symbol->module) {
		r = resolver_printable(kernel_symbols_module(&resolver->kernel, symbol), &ret->module);
		if (r < 0)
			return r;
	}
	return resolver_name_symbol(resolver->kernel.names + symbol->name, query->address - symbol->start,
				    ret);
}

static int find_jit(struct resolver *resolver, struct process *process, u64 address, struct symbol *ret)
{
	const struct jit_entry *entry;
	const char *name;

	if (process->jit.fd < 0 &&
	    (!process->jit_looked || monotonic_ns() - process->jit_looked >= LOOK_AGAIN_NS))
		open_jit(resolver, process);
	if (process->jit.fd < 0)
		return 0;
	entry = jit_map_find(&process->jit.map, address, &name);
	if (!entry || monotonic_ns() - process->jit_looked >= LOOK_AGAIN_NS) {
		int r = jit_file_read(&process->jit);

		process->jit_looked = monotonic_ns();
		if (r == -ENOMEM)
			return r;
		make_room(resolver, process);
		entry = jit_map_find(&process->jit.map, address, &name);
	}
	if (!entry)
		return 0;
	ret->region = SYMBOL_JIT;
	free(TAKE_PTR(ret->module));
	return resolver_name_symbol(name, address - entry->start, ret);
}

static bool follows(const struct mapping *mapping, const struct mapping *before)
{
	return before->end == mapping->start;
}

#define MAPPINGS_OF_FILE 16

/*
 * Returns the load bias of the file: the distance between its addresses in the process and in the file. Uses
 * the first of its adjacent mappings. UINT64_MAX: not known.
 */
static u64 bias_of(const struct maps *maps, const struct mapping *mapping, const struct elf_file *elf)
{
	const struct mapping *first = mapping;
	u64 address;

	for (int i = 0; i < MAPPINGS_OF_FILE && first > maps->mappings && follows(first, first - 1) &&
			first[-1].file == mapping->file;
	     i++)
		first--;
	if (!elf_file_address(elf, first->offset, first->protection, first->start, UINT64_MAX, first->start,
			      &address))
		return UINT64_MAX;
	return first->start - address;
}

static int set_module(const struct process *process, const struct mapped_file *file, struct symbol *ret)
{
	ret->deleted = file->deleted;
	memcpy(ret->build_id, file->build_id, sizeof(ret->build_id));
	ret->build_id_size = file->build_id_size;
	free(TAKE_PTR(ret->module));
	return resolver_printable(process_path(process, file->path), &ret->module);
}

/* Adds the names at an address of the module. If that loads symbols, other modules may be shed. */
static int find_in_module(struct resolver *resolver, struct module *module, u64 address, u32 kind,
			  struct symbol *ret)
{
	bool had = module_bytes(module);
	int r = module_find(module, address, kind, resolver->debuginfod, ret);

	ret->address = address;
	if (!had)
		resolver_shed(resolver, module);
	return r;
}

static int find_file(struct resolver *resolver, const struct process *process, const struct mapping *mapping,
		     const struct symbol_query *query, struct symbol *ret)
{
	struct module *module;
	u64 address;
	int r;

	ret->region = SYMBOL_FILE;
	ret->address = mapping->offset + (query->address - mapping->start);
	r = resolver_module_of(resolver, process, mapping, &module);
	if (r == 0)
		r = set_module(process, mapping->file, ret);
	if (r < 0 || !module || !module->elf ||
	    !elf_file_address(module->elf, mapping->offset, mapping->protection, mapping->start,
			      bias_of(process->maps, mapping, module->elf), query->address, &address))
		return r;
	return find_in_module(resolver, module, address, query->kind, ret);
}

/* Maximum mappings without a file between a file's last mapping and the end of its .bss. */
#define BSS_MAPPINGS 4

/*
 * Variables without bytes in the file (.bss) are in anonymous memory directly after the file's last mapping.
 * Sets ret->region to SYMBOL_FILE if the address is such a variable. Returns 0 or -errno.
 */
static int find_bss(struct resolver *resolver, const struct process *process, const struct mapping *mapping,
		    const struct symbol_query *query, struct symbol *ret)
{
	const struct mapping *before = mapping;
	const struct elf_segment *segment;
	struct module *module;
	u64 bias, address;
	int r;

	for (int i = 0; i < BSS_MAPPINGS && !resolver_is_file(before->file); i++) {
		if (before == process->maps->mappings || !follows(before, before - 1))
			return 0;
		before--;
	}
	if (!resolver_is_file(before->file))
		return 0;
	r = resolver_module_of(resolver, process, before, &module);
	if (r < 0 || !module || !module->elf)
		return r;
	bias = bias_of(process->maps, before, module->elf);
	address = query->address - bias;
	segment = bias == UINT64_MAX ? NULL : elf_file_segment(module->elf, address);
	if (!segment || !(segment->protection & PROT_WRITE))
		return 0;
	ret->region = SYMBOL_FILE;
	r = set_module(process, before->file, ret);
	return r < 0 ? r : find_in_module(resolver, module, address, query->kind, ret);
}

static int find_vdso(struct resolver *resolver, struct process *process, const struct mapping *mapping,
		     const struct symbol_query *query, struct symbol *ret)
{
	u64 address;

	ret->region = SYMBOL_VDSO;
	if (!resolver->vdso.elf || mapping->end - mapping->start != resolver->vdso_size)
		return 0;
	if (process->vdso == VDSO_NOT_COMPARED)
		process->vdso = resolver_process_has(resolver->proc, process->pid, mapping->start,
						     resolver->vdso_image, resolver->vdso_size)
					? VDSO_OWN
					: VDSO_OTHER;
	if (process->vdso != VDSO_OWN ||
	    !elf_file_address(resolver->vdso.elf, 0, mapping->protection, mapping->start, UINT64_MAX,
			      query->address, &address))
		return 0;
	return module_find(&resolver->vdso, address, query->kind, false, ret);
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Sets the module to the NAME in "[anon:NAME]". */
static int set_given_name(const char *path, struct symbol *ret)
{
	const char *colon = strchr(path, ':');
	_cleanup_free_ char *name = NULL;
	size_t length;

	if (!colon)
		return 0;
	length = strlen(colon + 1);
	if (length && colon[length] == ']')
		length--;
	name = strndup(colon + 1, length);
	return name ? resolver_printable(name, &ret->module) : -ENOMEM;
}

static bool is_shared_memory(const struct mapped_file *file)
{
	return begins_with(file->path, "/memfd:") || begins_with(file->path, "/dev/zero") ||
	       begins_with(file->path, "/SYSV") || begins_with(file->path, "[anon_shmem:");
}

static enum symbol_region region_of(const struct mapping *mapping)
{
	const struct mapped_file *file = mapping->file;

	if (!file)
		return mapping->shared ? SYMBOL_SHARED : SYMBOL_ANONYMOUS;
	/* A memfd with an executable mapping may be a program that runs from memory. Treat it as a file. */
	if (is_shared_memory(file))
		return file->code && begins_with(file->path, "/memfd:") ? SYMBOL_FILE : SYMBOL_SHARED;
	if (strcmp(file->path, "[heap]") == 0)
		return SYMBOL_HEAP;
	if (begins_with(file->path, "[stack"))
		return SYMBOL_STACK;
	if (begins_with(file->path, "[vdso]") || begins_with(file->path, "[vvar"))
		return SYMBOL_VDSO;
	if (file->path[0] == '[' || begins_with(file->path, "//"))
		return SYMBOL_ANONYMOUS;
	return SYMBOL_FILE;
}

static int find_mapped(struct resolver *resolver, struct process *process, const struct mapping *mapping,
		       const struct symbol_query *query, struct symbol *ret)
{
	bool is_code = query->kind == SYMBOL_CODE && (mapping->protection & PROT_EXEC);
	int r = 0;

	ret->start = mapping->start;
	ret->end = mapping->end;
	ret->address = query->address - mapping->start;
	ret->region = region_of(mapping);
	/* Code without a file may have names in a JIT map. Files have symbols of their own. */
	if (is_code && (!resolver_is_file(mapping->file) || is_shared_memory(mapping->file)))
		r = find_jit(resolver, process, query->address, ret);
	if (r < 0 || ret->region == SYMBOL_JIT)
		return r;
	if (query->kind == SYMBOL_DATA && (ret->region == SYMBOL_ANONYMOUS || ret->region == SYMBOL_HEAP))
		r = find_bss(resolver, process, mapping, query, ret);
	if (r < 0)
		return r;
	switch (ret->region) {
	case SYMBOL_FILE:
		return ret->module ? 0 : find_file(resolver, process, mapping, query, ret);
	case SYMBOL_VDSO:
		return begins_with(mapping->file->path, "[vdso]")
			       ? find_vdso(resolver, process, mapping, query, ret)
			       : 0;
	case SYMBOL_SHARED:
		if (mapping->file && mapping->file->path[0] == '/')
			return resolver_printable(mapping->file->path, &ret->module);
		return mapping->file ? set_given_name(mapping->file->path, ret) : 0;
	case SYMBOL_ANONYMOUS:
		return mapping->file ? set_given_name(mapping->file->path, ret) : 0;
	default:
		return 0;
	}
}

/*
 * Returns the process, and reads it again if that is due. Sets `ret` to NULL if the process was never seen
 * and has ended.
 */
static int process_for(struct resolver *resolver, u32 pid, struct process **ret)
{
	struct process *process = known(resolver, pid);
	int r = 0;

	*ret = process;
	if (!process) {
		r = resolver_process(resolver, pid);
		*ret = known(resolver, pid);
		return r == -ENOMEM ? r : 0;
	}
	if (monotonic_ns() - process->checked >= LOOK_AGAIN_NS)
		r = check(resolver, process);
	if (r == 0 && may_look_again(process, FRESH_NS))
		r = look_at(resolver, process);
	return r == -ENOMEM ? r : 0;
}

int resolver_find(struct resolver *resolver, const struct symbol_query *query, struct symbol *ret)
{
	const struct mapping *mapping;
	struct process *process;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (SYMBOL_IS_KERNEL(query->address)) {
		r = find_kernel(resolver, query, ret);
		if (r < 0)
			symbol_done(ret);
		return r;
	}
	r = process_for(resolver, query->pid, &process);
	if (r < 0 || !process)
		return r;
	mapping = maps_find(process->maps, query->address);
	if (!mapping && may_look_again(process, LOOK_AGAIN_NS)) {
		r = look_at(resolver, process);
		if (r == -ENOMEM)
			return r;
		mapping = maps_find(process->maps, query->address);
	}
	if (!mapping)
		return 0;
	r = find_mapped(resolver, process, mapping, query, ret);
	if (r < 0)
		symbol_done(ret);
	return r;
}

u64 resolver_bytes(const struct resolver *resolver)
{
	u64 bytes = sizeof(*resolver) + resolver->vdso_size + kernel_symbols_bytes(&resolver->kernel);

	for (size_t i = 0; i < RESOLVER_BUCKETS; i++) {
		for (const struct process *process = resolver->processes[i]; process; process = process->next)
			bytes += sizeof(*process) + maps_bytes(process->maps) +
				 jit_map_bytes(&process->jit.map);
	}
	for (size_t i = 0; i < RESOLVER_MODULES_MAX; i++)
		bytes += module_bytes(&resolver->modules[i]);
	return bytes;
}
