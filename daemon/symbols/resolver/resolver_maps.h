// SPDX-License-Identifier: GPL-2.0
/*
 * The mappings of a process, sorted by address and without overlap, and the mapped files. Read from
 * /proc/PID/maps (fs/proc/task_mmu.c, show_map_vma()).
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_MAPS_H
#define PEBSD_SYMBOLS_RESOLVER_MAPS_H

#include "base/cleanup.h"
#include "symbols/resolver/resolver.h"
#include "symbols/shared/maps_line.h"

/* A mapped file, or another mapping with a name. */
struct mapped_file {
	unsigned int references;
	u32 major, minor;
	u64 inode;
	char *path; /* never "" */
	bool deleted;
	bool code; /* at least one mapping of the file is executable */
	u8 build_id[SYMBOL_BUILD_ID_MAX];
	u8 build_id_size;
	/* Index among the resolver's modules, valid if that module's serial is still `module_serial`. */
	size_t module;
	u64 module_serial; /* 0: none */
	u64 module_looked; /* time of the last attempt to open the module, CLOCK_MONOTONIC in ns; 0: never */
};

struct mapping {
	u64 start, end, offset;
	u32 protection;
	bool shared;
	struct mapped_file *file; /* NULL: anonymous */
};

/* The mappings of a process. Processes that forked and changed nothing since share them. */
struct maps {
	unsigned int references;
	struct mapping *mappings;
	size_t n, room;
	size_t path_bytes; /* of the files that are mapped, and of some that were: see `unmapped` */
	bool unmapped;     /* mappings were removed since the paths were counted last */
};

struct maps *maps_ref(struct maps *maps);
struct maps *maps_unref(struct maps *maps);
DEFINE_CLEANUP(struct maps *, maps_unref)

/* Return 0 or -ENOMEM. */
int maps_new(struct maps **ret);
int maps_copy(const struct maps *maps, struct maps **ret);

/* Maximum bytes of the paths of one process. Further mappings are kept without a path. */
#define MAPS_PATH_BYTES_MAX (16UL << 20)

/* Time limit for reading. A symbolizer that needs more than SYMBOLS_QUERY_S for a request is killed. */
#define MAPS_READ_NS (2 * NSEC_PER_SEC)

/*
 * Reads at most RESOLVER_MAPPINGS_MAX lines, for at most MAPS_READ_NS. Returns 0, -ESRCH if the file is
 * empty, which means that the process has ended, or another -errno.
 */
int maps_read(FILE *file, struct maps **ret);

/*
 * Sets `*ret` to `newer` plus those mappings of `older` that do not overlap a mapping of `newer`; to `newer` alone if
 * the mappings of both, or the bytes of their paths, exceed the limit together. Returns 0 or -ENOMEM.
 */
int maps_merge(const struct maps *newer, const struct maps *older, struct maps **ret);

/*
 * Adds a mapping, which replaces the mappings or parts of them that it covers. Returns 0, -ENOMEM, -ENOSPC
 * (too many) or -EINVAL (empty, or an invalid range).
 */
int maps_enter(struct maps *maps, const struct symbol_mapping *mapping);

/* Returns NULL if nothing is mapped there. */
struct mapping *maps_find(const struct maps *maps, u64 address);

u64 maps_bytes(const struct maps *maps);

#endif
