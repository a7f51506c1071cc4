// SPDX-License-Identifier: GPL-2.0
/*
 * Code that a process generated itself and listed in /tmp/perf-PID.map, where PID is its number in its own
 * pid namespace. A line has a start and a size in hexadecimal, and a name
 * (tools/perf/Documentation/jit-interface.txt). The process appends lines as it generates code. If two lines
 * cover an address, the later one is valid.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_JIT_H
#define PEBSD_SYMBOLS_RESOLVER_JIT_H

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

#define JIT_ENTRIES_MAX (1U << 20)

struct jit_entry {
	u64 start, end;
	u32 name; /* offset in `names` */
	u32 sequence;
};

struct jit_map {
	struct jit_entry *entries; /* sorted by `start` if `sorted` is set */
	size_t n, room;
	char *names;
	size_t names_size, names_room;
	bool sorted;
};

void jit_map_done(struct jit_map *map);

/*
 * Adds the complete lines of `text`. Lines in another format are ignored. `*ret_taken` is the number of bytes
 * in complete lines. Returns 0 or -ENOMEM.
 */
int jit_map_add(struct jit_map *map, const char *text, size_t size, size_t *ret_taken);

/* Returns the entry and its name, which the map owns, or NULL. */
const struct jit_entry *jit_map_find(struct jit_map *map, u64 address, const char **ret_name);

u64 jit_map_bytes(const struct jit_map *map);

/* The file of a process. It is kept open, because it can no longer be found after the process has ended. */
struct jit_file {
	int fd;   /* -1: no file */
	u64 read; /* bytes that were read */
	char last[64];
	size_t n_last; /* number of bytes in `last`: the last ones that were read */
	struct jit_map map;
};

/* Opens the file. Sets `ret->fd` to -1 if there is none, or if neither the process' user nor root owns it. */
void jit_file_open(const char *proc, u32 pid, struct jit_file *ret);
void jit_file_done(struct jit_file *file);

/*
 * Reads the lines that were appended since the last call. If the process replaced the contents, reads all of it.
 * Returns 0 or -errno.
 */
int jit_file_read(struct jit_file *file);

/*
 * Parses /proc/PID/status: the pid in the innermost namespace, and the effective uid. Pure. Returns 0 or
 * -EINVAL.
 */
int jit_parse_status(const char *status, u32 *ret_pid, u32 *ret_uid);

#endif
