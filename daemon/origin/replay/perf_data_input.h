// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the bytes of a recording in order, through a buffer. The recording is a file, or a pipe, which cannot
 * be read twice. Positions count from the first byte of the recording.
 */
#ifndef PEBSD_PERF_DATA_INPUT_H
#define PEBSD_PERF_DATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

struct perf_data_input {
	int fd;
	bool seekable;
	bool no_wait; /* set by the caller; see perf_data_input_peek() */
	u64 size;     /* size of the whole recording if it is seekable; otherwise 2^64 - 1 */
	u64 position; /* position of the next byte to consume */
	u8 *buffer;
	size_t capacity;
	size_t start; /* first byte in `buffer` that is not consumed */
	size_t end;
};

/* Takes ownership of `fd`. Returns 0 or -errno. In both cases the caller must call perf_data_input_close(). */
int perf_data_input_open(struct perf_data_input *input, int fd);
void perf_data_input_close(struct perf_data_input *input);

/*
 * Returns the length of the recording as far as it is known. For a pipe, this is the number of bytes read so
 * far.
 */
u64 perf_data_input_seen(const struct perf_data_input *input);

/*
 * Makes the next `n` bytes available at *ret until the next call. Returns 1, 0 if the recording ends before
 * that, or -errno. It allocates memory for `n` bytes, so bound `n`. With `no_wait` it returns -EAGAIN if a
 * pipe does not have the bytes yet, and keeps the bytes that it has already read. Repeat the call when `fd`
 * has more.
 */
int perf_data_input_peek(struct perf_data_input *input, size_t n, const u8 **ret);

/*
 * Skips the next *n bytes, buffered or not, and subtracts the number skipped from *n. Returns like
 * perf_data_input_peek().
 */
int perf_data_input_skip(struct perf_data_input *input, u64 *n);

/*
 * Copies `n` bytes from `position` without consuming anything. In a seekable recording they can be anywhere,
 * in a pipe only in the buffer. Returns 1, 0 if the recording ends before that, -ESPIPE if a pipe does not
 * have the bytes in its buffer, or another -errno.
 */
int perf_data_input_copy(const struct perf_data_input *input, u64 position, void *ret, size_t n);

#endif
