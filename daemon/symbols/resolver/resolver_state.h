// SPDX-License-Identifier: GPL-2.0
/* The state that the resolver's files share: processes and modules. */
#ifndef PEBSD_SYMBOLS_RESOLVER_STATE_H
#define PEBSD_SYMBOLS_RESOLVER_STATE_H

#include "symbols/resolver/resolver.h"
#include "symbols/resolver/resolver_kernel.h"
#include "symbols/resolver/resolver_process.h"

#define RESOLVER_BUCKETS 1024

/*
 * Minimum time before a process or its JIT map is read again, and before a file that could not be opened is
 * tried again.
 */
#define LOOK_AGAIN_NS (100 * NSEC_PER_MSEC)

/* Maximum open JIT maps. */
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
	int kallsyms; /* -1: not requested, or not available */
	struct kernel_symbols kernel;
	u64 kernel_read; /* time at which kallsyms was read; 0: never */
	char *vdso_image;
	size_t vdso_size;
	struct module vdso;
};

/*
 * resolver_modules.c: finds or opens the module of the mapping's file. Sets `ret` to NULL if the file cannot
 * be opened. Returns 0 or -ENOMEM.
 */
int resolver_module_of(struct resolver *resolver, const struct process *process,
		       const struct mapping *mapping, struct module **ret);

/*
 * Open code files while they can be reached: those of all mappings of the process, or of one mapping. Return
 * 0 or -ENOMEM.
 */
int resolver_open_code(struct resolver *resolver, const struct process *process);
int resolver_open_mapping(struct resolver *resolver, const struct process *process,
			  const struct mapping *mapping);

/*
 * Frees the symbols of modules, the least recently used first, while all together exceed
 * RESOLVER_MODULE_BYTES_MAX. Those of `kept` are not freed.
 */
void resolver_shed(struct resolver *resolver, const struct module *kept);

/*
 * Returns whether `file` is a file, not another mapping with a name. Files have paths. Other mappings are in
 * brackets, or begin with "anon_inode:" or "//".
 */
bool resolver_is_file(const struct mapped_file *file);

#endif
