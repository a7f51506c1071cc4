// SPDX-License-Identifier: GPL-2.0
/* What the resolver's own files share: its processes, its modules, and the clock. */
#ifndef PEBSD_SYMBOLS_RESOLVER_STATE_H
#define PEBSD_SYMBOLS_RESOLVER_STATE_H

#include <time.h>

#include "symbols/resolver/resolver.h"
#include "symbols/resolver/resolver_kernel.h"
#include "symbols/resolver/resolver_process.h"

#define RESOLVER_BUCKETS 1024

/* How long what was read of a process holds at least. */
#define LOOK_AGAIN_NS (100 * NSEC_PER_MSEC)

/* Descriptors of JIT maps. */
#define JIT_FILES_MAX 64

struct resolver {
	const char *proc;
	bool debuginfod;
	int own_root;
	struct process *processes[RESOLVER_BUCKETS];
	size_t n_processes;
	size_t n_jit_files;
	struct module modules[RESOLVER_MODULES_MAX];
	u64 serial, uses;
	int kallsyms; /* -1: not asked for, or not there */
	struct kernel_symbols kernel;
	u64 kernel_read; /* 0: never */
	char *vdso_image;
	size_t vdso_size;
	struct module vdso;
};

static inline u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

/* resolver_modules.c: the module of the mapping's file, opened where it is not; NULL in `ret` where it is out
 * of reach. 0 or -ENOMEM. */
int resolver_module_of(struct resolver *resolver, const struct process *process,
		       const struct mapping *mapping, struct module **ret);

/* Opens the files of code while they can be reached: of all mappings of the process, of one. 0 or -ENOMEM. */
int resolver_open_code(struct resolver *resolver, const struct process *process);
int resolver_open_mapping(struct resolver *resolver, const struct process *process,
			  const struct mapping *mapping);

/* Modules give back what they hold, the least recently used first, until all hold no more than they may;
 * `kept` holds what it has. */
void resolver_shed(struct resolver *resolver, const struct module *kept);

/* Files have paths; other things are in brackets, or begin with "anon_inode:" or "//". */
bool resolver_is_file(const struct mapped_file *file);

#endif
