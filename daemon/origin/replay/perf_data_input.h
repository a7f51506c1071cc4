// SPDX-License-Identifier: GPL-2.0
/*
 * The bytes of a recording, in order and through a buffer: of a file, or of a pipe, which can not be read a
 * second time. Positions count from the recording's first byte.
 */
#ifndef PEBSD_PERF_DATA_INPUT_H
#define PEBSD_PERF_DATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

struct perf_data_input {
	int fd;
	bool seekable;
	bool no_wait; /* see perf_data_input_peek(); the caller's to set */
	u64 size;     /* of the whole recording where it is seekable, else 2^64 - 1 */
	u64 position; /* of the next byte to be consumed */
	u8 *buffer;
	size_t capacity;
	size_t start; /* of what is buffered and not consumed */
	size_t end;
};

/* Takes over `fd` in every case. Returns 0 or -errno. */
int perf_data_input_open(struct perf_data_input *input, int fd);
void perf_data_input_close(struct perf_data_input *input);

/* Length of the recording as far as it is known: in a pipe, what has come out of it. */
u64 perf_data_input_seen(const struct perf_data_input *input);

/*
 * Makes the next `n` bytes available at *ret until the next call. Returns 1, 0 where the recording ends
 * before that, -errno. What it is given to hold it allocates: bound `n`. With `no_wait` it returns -EAGAIN
 * where a pipe does not have them yet, and keeps what it has: the same call may follow when `fd` has more.
 */
int perf_data_input_peek(struct perf_data_input *input, size_t n, const u8 **ret);

/* Leaves out the next *n bytes, buffered or not, and subtracts from *n those that are left out. Returns as
 * perf_data_input_peek(). */
int perf_data_input_skip(struct perf_data_input *input, u64 *n);

/*
 * Copies `n` bytes from `position`, without moving: anywhere in a seekable recording, in a pipe only of what
 * is buffered. Returns 1, 0 where the recording ends before that, -ESPIPE where a pipe does not hold them any
 * more or yet, -errno.
 */
int perf_data_input_copy(const struct perf_data_input *input, u64 position, void *ret, size_t n);

#endif
