// SPDX-License-Identifier: GPL-2.0
/*
 * From addresses to names: what processes have mapped, the symbols of ELF files by libdw, the kernel's by
 * kallsyms, a JIT's by its perf-PID.map. It blocks, reads files that others made, and is given a process of
 * its own for that (symbols_worker.h); every piece of work is bounded.
 *
 * A file is reached through /proc/PID/map_files, which is the file that is mapped whatever has become of its
 * name, in whichever mount namespace; where that is not permitted through /proc/PID/root, never out of it,
 * and only where device and inode (or the build id) are those of the mapping.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_H
#define PEBSD_SYMBOLS_RESOLVER_H

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

struct resolver_settings {
	const char *proc;     /* "/proc", or a made one of a test; outlives the resolver */
	const char *kallsyms; /* "/proc/kallsyms"; NULL: the kernel's names are not asked for */
	bool debuginfod;      /* libdw may ask the servers of DEBUGINFOD_URLS */
};

/* What is held at most; what is the least recently used makes room. */
#define RESOLVER_MAPPINGS_MAX     65536 /* of a process, and no more are read; 64 * 65536 of all */
#define RESOLVER_MODULES_MAX      256
#define RESOLVER_FILE_MAX         (1ULL << 30) /* bytes of an ELF file; larger ones have no names */
#define RESOLVER_JIT_FILE_MAX     (64ULL << 20)
#define RESOLVER_ALL_MAPPINGS_MAX (64ULL * RESOLVER_MAPPINGS_MAX)
#define RESOLVER_JIT_BYTES_MAX    (256ULL << 20) /* of all JIT maps */
#define RESOLVER_MODULE_BYTES_MAX (512ULL << 20) /* of all files' symbols and DWARF, about */
#define RESOLVER_DESCRIPTORS_MAX  900            /* that it keeps open */

struct resolver;

/* It opens kallsyms at once, and reads it from that descriptor whenever it has to: what CAP_SYSLOG is needed
 * for is done when this returns. 0 or -ENOMEM. */
int resolver_new(const struct resolver_settings *settings, struct resolver **ret);
struct resolver *resolver_free(struct resolver *resolver);
DEFINE_CLEANUP(struct resolver *, resolver_free)

/*
 * Reads what the process has mapped now and keeps it, so that its addresses are known when it is gone, and
 * opens the files of code in it while they can be reached. A process that is known is read again.
 * 0; -ESRCH where there is none; -errno.
 */
int resolver_process(struct resolver *resolver, u32 pid);

/* Enters a mapping that the process has just made, over what was there. 0 or -errno. */
int resolver_mapped(struct resolver *resolver, const struct symbol_mapping *mapping);

/* It executes another program: what was mapped is no more. */
void resolver_executed(struct resolver *resolver, u32 pid);

/* A child of `parent`: what the parent has mapped, where that is known. 0 or -ENOMEM. */
int resolver_forked(struct resolver *resolver, u32 pid, u32 parent);

/*
 * What the address is. An unknown process is looked at first, and one whose mappings have nothing there once
 * more (not oftener than each 100 ms, nor for more than a fiftieth of the time). `ret` is the caller's, to be
 * freed with symbol_done(). 0 also where nothing is known (SYMBOL_UNKNOWN), or -ENOMEM.
 */
int resolver_find(struct resolver *resolver, const struct symbol_query *query, struct symbol *ret);

/* Reads kallsyms, unless that is done. *ret_hidden: the kernel shows no addresses to this process
 * (kernel.kptr_restrict, or no CAP_SYSLOG when the resolver was made), so none of its names are known. 0 or
 * -ENOMEM. */
int resolver_kernel(struct resolver *resolver, bool *ret_hidden);

/* Bytes that it holds, about. */
u64 resolver_bytes(const struct resolver *resolver);

#endif
