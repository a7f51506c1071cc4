// SPDX-License-Identifier: GPL-2.0
/* A known process: its mappings, its JIT map, and its start time, which detects pid reuse. */
#ifndef PEBSD_SYMBOLS_RESOLVER_PROCESS_H
#define PEBSD_SYMBOLS_RESOLVER_PROCESS_H

#include "symbols/resolver/resolver_jit.h"
#include "symbols/resolver/resolver_maps.h"
#include "symbols/resolver/resolver_module.h"

struct process {
	u32 pid;
	char *root;     /* prefix of the paths in `maps`, "" for "/"; NULL: not known */
	u64 start_time; /* /proc/PID/stat, in ticks; 0: not known */
	struct maps *maps;
	u64 read;    /* time at which `maps` was read, CLOCK_MONOTONIC in ns; 0: never */
	u64 took;    /* duration of reading `maps`, ns */
	u64 checked; /* when pid reuse was last checked, CLOCK_MONOTONIC in ns */
	struct jit_file jit;
	u64 jit_looked; /* time at which the file was last looked for or read; 0: never */
	enum { VDSO_NOT_COMPARED, VDSO_OWN, VDSO_OTHER } vdso;
	u64 used;
	struct process *next;
};

/* Returns 0 or -ENOMEM. */
int resolver_process_new(u32 pid, struct process **ret);
struct process *resolver_process_free(struct process *process);
DEFINE_CLEANUP(struct process *, resolver_process_free)

/* Forgets the mappings and the JIT map. Returns 0 or -ENOMEM. */
int resolver_process_reset(struct process *process);

/* Replaces the mappings and takes ownership of `maps`. */
void process_set_maps(struct process *process, struct maps *maps);

/*
 * Reads the current mappings, and keeps former mappings that do not overlap them. Returns 0, -ESRCH (the
 * process has ended) or another -errno.
 */
int resolver_process_read(struct process *process, const char *proc);

/* Reads field 22 of /proc/PID/stat (proc(5)), the start time. Returns 0 or -errno. */
int process_start_time(const char *proc, u32 pid, u64 *ret);

/* Same as process_start_time(), for the text of /proc/PID/stat. Returns 0 or -EINVAL. Pure. */
int process_parse_start_time(const char *stat, u64 *ret);

/* Identifies the root of the process. All 0: the root of this process. Returns 0 or -errno. */
int resolver_process_root(const char *proc, u32 pid, struct module_root *ret);

/* Converts a path from the maps of the process to the path that the process itself sees. */
const char *process_path(const struct process *process, const char *path);

/* Returns whether the bytes at `start` in the process equal `image`. */
bool resolver_process_has(const char *proc, u32 pid, u64 start, const char *image, size_t size);

#endif
