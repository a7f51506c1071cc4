// SPDX-License-Identifier: GPL-2.0
/*
 * A file that is there whole or not at all: it is written beside its place (mode 0600) and put there when it
 * is done. Or standard output, for "-".
 */
#ifndef PEBSD_CTL_NEW_FILE_H
#define PEBSD_CTL_NEW_FILE_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

struct new_file;

/*
 * Makes ready to write. What is no regular file (a device, a FIFO) is written to as it is. Returns 0;
 * -EISDIR; -ELOOP for a symbolic link, which is not followed and not replaced; -errno.
 */
int new_file_open(const char *path, struct new_file **ret);

int new_file_write(struct new_file *file, const u8 *bytes, size_t size);

/* Puts it in its place, over one that is there. 0 or -errno. */
int new_file_finish(struct new_file *file);

/* Removes what was not finished. */
struct new_file *new_file_free(struct new_file *file);
DEFINE_CLEANUP(struct new_file *, new_file_free)

#endif
