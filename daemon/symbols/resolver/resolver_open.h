// SPDX-License-Identifier: GPL-2.0
/*
 * Reaching files of a process: regular ones, none that is larger than asked for, never out of its root.
 * Nothing is opened for reading before it is known to be a regular file.
 */
#ifndef PEBSD_SYMBOLS_RESOLVER_OPEN_H
#define PEBSD_SYMBOLS_RESOLVER_OPEN_H

#include <sys/stat.h>

#include "symbols/resolver/resolver_maps.h"

/* The root directory of the process as an O_PATH descriptor, or -errno. */
int open_root(const char *proc, u32 pid);

/*
 * `path` below the directory `root`, as a process that has it as its root sees it. `follow`: whether the
 * path's last component may be a symbolic link. A descriptor for reading, or -errno: -EINVAL where it is no
 * regular file, -EFBIG where it is larger than `max` bytes.
 */
int open_below(int root, const char *path, bool follow, u64 max, struct stat *ret);

/*
 * The file that is mapped at [start, end) by the process: through map_files; else through its root, and then
 * only the file at `path` whose device and inode are the mapping's, or, with *by_name, one that the caller
 * has to compare the build id of. As open_below().
 */
int open_mapped(const char *proc, u32 pid, const struct mapping *mapping, const char *path, struct stat *ret,
		bool *ret_by_name);

#endif
