// SPDX-License-Identifier: GPL-2.0
/*
 * Opens files of a process: only regular files, up to a maximum size. Paths never lead outside the process'
 * root. No file is opened for reading before it is known to be regular.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_OPEN_H
#define PEBSD_SYMBOLS_RESOLVER_OPEN_H

#include <sys/stat.h>

#include "symbols/resolver/resolver_maps.h"

/* Returns the root directory of the process as an O_PATH descriptor, or -errno. */
int open_root(const char *proc, u32 pid);

/*
 * Opens `path` below the directory `root`, like a process whose root that is. `follow` says whether the last
 * component may be a symbolic link. Returns a descriptor for reading, -EINVAL (not a regular file), -EFBIG
 * (more than `max` bytes) or another -errno.
 */
int open_below(int root, const char *path, bool follow, u64 max, struct stat *ret);

/*
 * Opens the file of a mapping of the process, through map_files. If that fails, opens `path` below the
 * process' root, if device and inode are those of the mapping. If they differ but the build id is known, sets
 * *ret_by_name, and the caller must compare the build id. Returns the same as open_below().
 */
int open_mapped(const char *proc, u32 pid, const struct mapping *mapping, const char *path, struct stat *ret,
		bool *ret_by_name);

#endif
