// SPDX-License-Identifier: GPL-2.0
/* A process that is known: what it has mapped, its JIT's map, and since when it is this one. */
#ifndef PEBSD_SYMBOLS_RESOLVER_PROCESS_H
#define PEBSD_SYMBOLS_RESOLVER_PROCESS_H

#include "symbols/resolver/resolver_jit.h"
#include "symbols/resolver/resolver_maps.h"
#include "symbols/resolver/resolver_module.h"

struct process {
	u32 pid;
	char *root;     /* its root as maps tell its paths from, "" for "/"; NULL: not known */
	u64 start_time; /* /proc/PID/stat, in ticks; 0: not known */
	struct maps *maps;
	u64 read;    /* its maps, CLOCK_MONOTONIC in ns; 0: never */
	u64 took;    /* that, ns */
	u64 checked; /* that it is the one that it was, likewise */
	struct jit_file jit;
	u64 jit_looked; /* for the file, or at it; 0: never */
	enum { VDSO_NOT_COMPARED, VDSO_OWN, VDSO_OTHER } vdso;
	u64 used;
	struct process *next;
};

/* 0 or -ENOMEM. */
int resolver_process_new(u32 pid, struct process **ret);
struct process *resolver_process_free(struct process *process);
DEFINE_CLEANUP(struct process *, resolver_process_free)

/* Forgets what it has mapped and its JIT's map. 0 or -ENOMEM. */
int resolver_process_reset(struct process *process);

/* Replaces the mappings; takes `maps`. */
void process_set_maps(struct process *process, struct maps *maps);

/* Reads what is mapped now, and keeps what was and is not overlaid. 0 or -errno, -ESRCH: it is gone. */
int resolver_process_read(struct process *process, const char *proc);

/* Field 22 of /proc/PID/stat (proc(5)): when it started. 0 or -errno. */
int process_start_time(const char *proc, u32 pid, u64 *ret);

/* Of a text as that file has. 0 or -EINVAL. Pure. */
int process_parse_start_time(const char *stat, u64 *ret);

/* Which root it has; all 0 where that is this process' own. 0 or -errno. */
int resolver_process_root(const char *proc, u32 pid, struct module_root *ret);

/* The path as the process sees it, of one that its maps tell. */
const char *process_path(const struct process *process, const char *path);

/* Whether the bytes at `start` in the process are those of `image`. */
bool resolver_process_has(const char *proc, u32 pid, u64 start, const char *image, size_t size);

#endif
