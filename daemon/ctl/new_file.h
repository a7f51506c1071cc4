// SPDX-License-Identifier: GPL-2.0
/*
 * A file that appears complete or not at all: it is written to a temporary file in the same directory (mode 0600),
 * which has no name until the end if the file system has such files, and renamed. "-" means standard output.
 */
#ifndef PEBSD_CTL_NEW_FILE_H
#define PEBSD_CTL_NEW_FILE_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

struct new_file;

/*
 * Opens the file for writing. If the path is not a regular file (a device, a FIFO), it is written directly.
 * Returns 0; -EISDIR; -ELOOP for a symbolic link, which is neither followed nor replaced; or another -errno.
 */
int new_file_open(const char *path, struct new_file **ret);

int new_file_write(struct new_file *file, const u8 *bytes, size_t size);

/* Renames the file to its path, and replaces an existing file. Returns 0 or -errno. */
int new_file_finish(struct new_file *file);

/* Removes the temporary file if it was not finished. */
struct new_file *new_file_free(struct new_file *file);
DEFINE_CLEANUP(struct new_file *, new_file_free)

#endif
