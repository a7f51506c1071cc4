// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/perf_data_input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Holds the largest record (64 KiB), and needs few system calls. */
#define BUFFER_MIN ((size_t)256 * 1024)

int perf_data_input_open(struct perf_data_input *input, int fd)
{
	off_t size;

	*input = (struct perf_data_input){.fd = fd, .size = ~0ULL};
	size = lseek(fd, 0, SEEK_END);
	if (size >= 0) {
		input->seekable = true;
		input->size = (u64)size;
	} else if (errno != ESPIPE) {
		return -errno;
	}
	return 0;
}

void perf_data_input_close(struct perf_data_input *input)
{
	free(input->buffer);
	if (input->fd >= 0)
		(void)close(input->fd);
	*input = (struct perf_data_input){.fd = -1};
}

u64 perf_data_input_seen(const struct perf_data_input *input)
{
	return input->seekable ? input->size : input->position + (input->end - input->start);
}

/* Returns true if a read would return immediately, with bytes, the end, or an error. */
static bool readable(int fd, int timeout)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	return poll(&poll_fd, 1, timeout) != 0;
}

/* Returns the number of bytes read, 0 at the end of the input, or -errno. */
static ssize_t read_some(const struct perf_data_input *input, u64 position, void *ret, size_t n)
{
	ssize_t r;

	do {
		if (!input->seekable && !readable(input->fd, input->no_wait ? 0 : -1))
			return -EAGAIN;
		if (input->seekable)
			r = pread(input->fd, ret, n, (off_t)position);
		else
			r = read(input->fd, ret, n);
	} while (r < 0 && (errno == EINTR || (errno == EAGAIN && !input->no_wait)));
	return r < 0 ? -errno : r;
}

static int reserve(struct perf_data_input *input, size_t n)
{
	size_t buffered = input->end - input->start;
	size_t wanted = n > BUFFER_MIN ? n : BUFFER_MIN;
	u8 *buffer;

	if (input->start + n <= input->capacity)
		return 0;
	if (input->start)
		memmove(input->buffer, input->buffer + input->start, buffered);
	input->start = 0;
	input->end = buffered;
	if (wanted <= input->capacity)
		return 0;
	buffer = realloc(input->buffer, wanted);
	if (!buffer)
		return -ENOMEM;
	input->buffer = buffer;
	input->capacity = wanted;
	return 0;
}

int perf_data_input_peek(struct perf_data_input *input, size_t n, const u8 **ret)
{
	int r;

	/* Do not allocate memory for a length that exceeds the recording. */
	if (input->seekable && (input->position > input->size || n > input->size - input->position))
		return 0;
	r = reserve(input, n);
	if (r < 0)
		return r;
	while (input->end - input->start < n) {
		size_t buffered = input->end - input->start;
		ssize_t got = read_some(input, input->position + buffered, input->buffer + input->end,
					input->capacity - input->end);

		if (got <= 0)
			return (int)got;
		input->end += (size_t)got;
	}
	*ret = input->buffer + input->start;
	return 1;
}

int perf_data_input_skip(struct perf_data_input *input, u64 *n)
{
	while (*n) {
		size_t buffered = input->end - input->start;
		size_t now = *n < buffered ? (size_t)*n : buffered;
		const u8 *next;
		int r;

		input->start += now;
		input->position += now;
		*n -= now;
		if (!*n)
			break;
		if (input->seekable) {
			if (*n > input->size - input->position)
				return 0;
			input->position += *n;
			*n = 0;
			break;
		}
		r = perf_data_input_peek(input, 1, &next);
		if (r <= 0)
			return r;
	}
	return 1;
}

int perf_data_input_copy(const struct perf_data_input *input, u64 position, void *ret, size_t n)
{
	u64 buffered = input->end - input->start;
	u8 *at = ret;

	if (!input->seekable) {
		if (position < input->position || n > buffered || position - input->position > buffered - n)
			return -ESPIPE;
		memcpy(ret, input->buffer + input->start + (position - input->position), n);
		return 1;
	}
	if (n > input->size || position > input->size - n)
		return 0;
	while (n) {
		ssize_t got = read_some(input, position, at, n);

		if (got <= 0)
			return (int)got;
		at += got;
		position += (u64)got;
		n -= (size_t)got;
	}
	return 1;
}
