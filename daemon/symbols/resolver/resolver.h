// SPDX-License-Identifier: GPL-2.0
/*
 * Turns addresses into names. It uses the mappings of processes, the symbols of ELF files (libdw), kallsyms
 * for the kernel, and perf-PID.map for JIT code. It blocks and reads files made by others, so it runs in a
 * separate process (symbols_worker.h). All work is bounded.
 *
 * A file is opened through /proc/PID/map_files, which is the mapped file itself, in any mount namespace, even
 * if it was renamed or removed. If that is not permitted, it is opened below /proc/PID/root, without leaving
 * that root. The file must then have the device and inode, or the build id, of the mapping.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_H
#define PEBSD_SYMBOLS_RESOLVER_H

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

struct resolver_settings {
	const char *proc;     /* "/proc", or a directory made by a test; outlives the resolver */
	const char *kallsyms; /* "/proc/kallsyms"; NULL: do not name kernel addresses */
	bool debuginfod;      /* libdebuginfod may ask the servers in DEBUGINFOD_URLS */
};

/*
 * Limits. Beyond a limit of one process or file, the rest is not read. While all processes together exceed
 * RESOLVER_ALL_MAPPINGS_MAX or RESOLVER_JIT_BYTES_MAX, the least recently used process is removed. The same holds
 * for modules with RESOLVER_MODULES_MAX, and for their symbols with RESOLVER_MODULE_BYTES_MAX.
 */
#define RESOLVER_MAPPINGS_MAX     65536 /* of one process */
#define RESOLVER_MODULES_MAX      256
#define RESOLVER_FILE_MAX         (1ULL << 30) /* bytes of an ELF file; larger ones have no names */
#define RESOLVER_JIT_FILE_MAX     (64ULL << 20)
#define RESOLVER_ALL_MAPPINGS_MAX (64ULL * RESOLVER_MAPPINGS_MAX)
#define RESOLVER_JIT_BYTES_MAX    (256ULL << 20) /* of all JIT maps */
#define RESOLVER_MODULE_BYTES_MAX (512ULL << 20) /* symbols and DWARF of all files, approximate */

struct resolver;

/*
 * Opens kallsyms at once and later reads it through this descriptor, so CAP_SYSLOG is only needed until
 * resolver_new() returns. Returns 0 or -ENOMEM.
 */
int resolver_new(const struct resolver_settings *settings, struct resolver **ret);
struct resolver *resolver_free(struct resolver *resolver);
DEFINE_CLEANUP(struct resolver *, resolver_free)

/*
 * Reads and keeps the current mappings of a process, so that its addresses can be named after it has ended.
 * Also opens its code files while they can be reached. A known process is read again. Returns 0, -ESRCH (no
 * such process) or another -errno.
 */
int resolver_process(struct resolver *resolver, u32 pid);

/*
 * Adds a mapping that the process has just created. It replaces the mappings that it covers. Returns 0 or
 * -errno.
 */
int resolver_mapped(struct resolver *resolver, const struct symbol_mapping *mapping);

/* The process executes another program: forgets its mappings. */
void resolver_executed(struct resolver *resolver, u32 pid);

/*
 * Forgets what is known of `pid`. If the mappings of `parent` are known, then adds its child `pid` with these
 * mappings. Does nothing for a thread (`pid` is `parent`). Returns 0 or -ENOMEM.
 */
int resolver_forked(struct resolver *resolver, u32 pid, u32 parent);

/*
 * Describes an address. Reads an unknown process first. Reads a known process again after 5 s, or after 100 ms
 * if it has no mapping there, but waits at least 50 times as long as the last reading took. The caller frees `ret`
 * with symbol_done(). Returns 0, also if nothing is known (SYMBOL_UNKNOWN), or -ENOMEM.
 */
int resolver_find(struct resolver *resolver, const struct symbol_query *query, struct symbol *ret);

/* Returns the approximate memory of the resolver, in bytes. */
u64 resolver_bytes(const struct resolver *resolver);

#endif
