// SPDX-License-Identifier: GPL-2.0
/*
 * What a process has mapped: mappings in the order of their addresses, none over another, and the files that
 * they are of. Read from /proc/PID/maps (fs/proc/task_mmu.c, show_map_vma()).
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_MAPS_H
#define PEBSD_SYMBOLS_RESOLVER_MAPS_H

#include "base/cleanup.h"
#include "symbols/resolver/resolver.h"
#include "symbols/shared/maps_line.h"

/* A file, or another thing with a name, that is mapped. */
struct mapped_file {
	unsigned int references;
	u32 major, minor;
	u64 inode;
	char *path; /* never "" */
	bool deleted;
	bool code; /* a mapping of it may be executed */
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size;
	/* Which of the resolver's modules it is, where `module_serial` is still that one's. */
	size_t module;
	u64 module_serial; /* 0: none */
	u64 module_looked; /* for it, CLOCK_MONOTONIC in ns; 0: never */
};

struct mapping {
	u64 start, end, offset;
	u32 protection;
	bool shared;
	struct mapped_file *file; /* NULL: anonymous */
};

/* The mappings of a process, or of some that forked and changed nothing since. */
struct maps {
	unsigned int references;
	struct mapping *mappings;
	size_t n, room;
	size_t path_bytes;
};

struct maps *maps_ref(struct maps *maps);
struct maps *maps_unref(struct maps *maps);
DEFINE_CLEANUP(struct maps *, maps_unref)

/* 0 or -ENOMEM. */
int maps_new(struct maps **ret);
int maps_copy(const struct maps *maps, struct maps **ret);

/* Bytes of paths of one process; mappings beyond are kept without theirs. */
#define MAPS_PATH_BYTES_MAX (16UL << 20)

/* A symbolizer that is asked something for longer than SYMBOLS_QUESTION_S is ended. */
#define MAPS_READ_NS (2 * NSEC_PER_SEC)

/* Reads RESOLVER_MAPPINGS_MAX lines at most, and for no longer than MAPS_READ_NS. 0; -ESRCH where there is
 * nothing in it, which is what a process that ended has; -errno. */
int maps_read(FILE *file, struct maps **ret);

/* `newer` and those of `older` that lie where `newer` has nothing, as long as they are not too many.
 * 0 or -ENOMEM. */
int maps_merge(const struct maps *newer, const struct maps *older, struct maps **ret);

/* Enters it over what is there. 0; -ENOMEM; -ENOSPC; -EINVAL where it has no size or no place. */
int maps_enter(struct maps *maps, const struct symbol_mapping *mapping);

/* NULL: nothing is mapped there. */
struct mapping *maps_find(const struct maps *maps, u64 address);

u64 maps_bytes(const struct maps *maps);

#endif
