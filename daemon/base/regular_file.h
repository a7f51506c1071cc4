// SPDX-License-Identifier: GPL-2.0
/* Reads a regular file up to a limit. It is meant for files that anybody may have created or enlarged. */
#ifndef PEBSD_REGULAR_FILE_H
#define PEBSD_REGULAR_FILE_H

#include <stddef.h>

/*
 * Reads an open file from its current position. It reads at most the number of bytes that the file has at the
 * start: fewer if the file shrinks meanwhile, and none that are appended meanwhile. A NUL follows the bytes
 * and is not counted. The caller opens the file, with O_NONBLOCK so that a FIFO does not block.
 *
 * Returns 0 and `*ret`, which the caller frees. -EINVAL: not a regular file. -EFBIG: the file has more than
 * `most` bytes, and nothing was read. -ENOMEM, or -errno of reading.
 */
int regular_file_read(int fd, size_t most, char **ret, size_t *ret_length);

#endif
