// SPDX-License-Identifier: GPL-2.0
/*
 * Code that a process made itself and told of in /tmp/perf-PID.map, with PID as in its own pid namespace:
 * lines of a start and a size in hexadecimal and a name (tools/perf/Documentation/jit-interface.txt). It is
 * written at its end as code is made; where two lines cover an address the later one holds.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_JIT_H
#define PEBSD_SYMBOLS_RESOLVER_JIT_H

#include "base/cleanup.h"
#include "symbols/shared/symbol.h"

#define JIT_ENTRIES_MAX (1U << 20)

struct jit_entry {
	u64 start, end;
	u32 name; /* where it begins in the text */
	u32 sequence;
};

struct jit_map {
	struct jit_entry *entries; /* by `start`, once sorted */
	size_t n, room;
	char *names;
	size_t names_size, names_room;
	bool sorted;
};

void jit_map_done(struct jit_map *map);

/*
 * Enters the whole lines of `text`; others than such as are described above are passed over. `*ret_taken` is
 * the number of bytes of whole lines. 0 or -ENOMEM.
 */
int jit_map_add(struct jit_map *map, const char *text, size_t size, size_t *ret_taken);

/* The entry, with its name in `ret_name`, the map's own; NULL: there is none. */
const struct jit_entry *jit_map_find(struct jit_map *map, u64 address, const char **ret_name);

u64 jit_map_bytes(const struct jit_map *map);

/* The file of a process, kept open: a process that is gone has no root to find it in. */
struct jit_file {
	int fd;   /* -1: none */
	u64 read; /* bytes of it */
	struct jit_map map;
};

/* Looks for it; `ret->fd` is -1 where there is none, or one that is not the process' own or root's. */
void jit_file_open(const char *proc, u32 pid, struct jit_file *ret);
void jit_file_done(struct jit_file *file);

/* Reads what was added since; all of it where it is shorter than it was. 0 or -errno. */
int jit_file_read(struct jit_file *file);

/* From /proc/PID/status: the pid in the innermost namespace and the user. Pure. 0 or -EINVAL. */
int jit_parse_status(const char *status, u32 *ret_pid, u32 *ret_uid);

#endif
