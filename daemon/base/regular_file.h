// SPDX-License-Identifier: GPL-2.0
/* What a regular file has, up to a bound: of files that anybody may have put there, or grown. */
#ifndef PEBSD_REGULAR_FILE_H
#define PEBSD_REGULAR_FILE_H

#include <stddef.h>

/*
 * Reads an open file from where its descriptor stands, as many bytes as it has when this begins: fewer where
 * it becomes shorter meanwhile, and not what it grows by. A NUL that does not count follows them. How it is
 * opened is the caller's: O_NONBLOCK keeps a FIFO from being waited for. Returns 0, `ret` is the caller's to
 * free; -EINVAL: it is no regular file; -EFBIG: it has more than `most` bytes, and nothing was read; -ENOMEM;
 * -errno of reading.
 */
int regular_file_read(int fd, size_t most, char **ret, size_t *ret_length);

#endif
