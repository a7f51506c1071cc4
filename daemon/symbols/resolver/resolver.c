// SPDX-License-Identifier: GPL-2.0
#include "symbols/resolver/resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "symbols/resolver/resolver_state.h"

/* How long before what a process has mapped is read again, although an address was found in it. */
#define FRESH_NS (5 * NSEC_PER_SEC)

/* What has very many mappings takes long to be read: no more than this part of the time is spent on one
 * process, whatever is asked of it, for all others wait meanwhile. */
#define READ_PART 50

#define VDSO_BYTES_MAX (64UL * 1024)

/* This process' vdso, which is every one's of its kind, for as long as its bytes are the same. */
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

/* The least recently used processes make room, but for `kept`. */
void resolver_make_room(struct resolver *resolver, const struct process *kept)
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
	resolver_make_room(resolver, process);
	*ret = process;
	return 0;
}

static int reset(struct resolver *resolver, struct process *process)
{
	if (process->jit.fd >= 0)
		resolver->n_jit_files--;
	return resolver_process_reset(process);
}

void resolver_open_jit(struct resolver *resolver, struct process *process)
{
	process->jit_looked = now_ns();
	if (process->jit.fd >= 0 || resolver->n_jit_files >= JIT_FILES_MAX)
		return;
	jit_file_open(resolver->proc, process->pid, &process->jit);
	if (process->jit.fd >= 0)
		resolver->n_jit_files++;
}

/* Reads the process' maps and opens what it has. -ESRCH: it is gone, and what was known of it stays. */
static int look_at(struct resolver *resolver, struct process *process)
{
	u64 began = now_ns();
	int r = resolver_process_read(process, resolver->proc);

	process->read = now_ns();
	process->took = process->read - began;
	if (r < 0)
		return r;
	resolver_make_room(resolver, process);
	resolver_open_jit(resolver, process);
	return resolver_open_code(resolver, process);
}

static bool may_look_again(const struct process *process, u64 after_ns)
{
	u64 since = now_ns() - process->read;

	return since >= after_ns && since / READ_PART >= process->took;
}

/* Whether the pid is still that of the process which is known; where it is another's by now, that one is. */
static int check(struct resolver *resolver, struct process *process)
{
	u64 start_time;
	int r = 0;

	process->checked = now_ns();
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
	resolver_make_room(resolver, process);
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
	/* It may have had to make room. */
	from = known(resolver, parent);
	if (from)
		process_set_maps(process, maps_ref(from->maps));
	if (from && from->root)
		process->root = strdup(from->root);
	return 0;
}

/* The process, read as it is now where it is time to. NULL in `ret` where it was never seen and is gone. */
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
	if (now_ns() - process->checked >= LOOK_AGAIN_NS)
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
		r = resolver_find_kernel(resolver, query, ret);
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
	r = resolver_find_mapped(resolver, process, mapping, query, ret);
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
