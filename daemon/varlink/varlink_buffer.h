// SPDX-License-Identifier: GPL-2.0
/* A queue of bytes: appended at the end, consumed at the start. A zeroed struct is an empty queue. */
#ifndef PEBSD_VARLINK_BUFFER_H
#define PEBSD_VARLINK_BUFFER_H

#include <stddef.h>

/* Bytes. The unused memory at the end of a buffer is at most this, except after varlink_buffer_reserve(). */
#define VARLINK_BUFFER_STEP 65536

struct varlink_buffer {
	char *bytes;
	size_t capacity;
	size_t start; /* consumed bytes at the start of `bytes` */
	size_t length;
};

/* Ensures that `more` bytes can be written at varlink_buffer_end(); add the number written to `length`. */
int varlink_buffer_reserve(struct varlink_buffer *buffer, size_t more);

/*
 * varlink_buffer_reserve() and varlink_buffer_append() return 0 or -ENOMEM. On error the content is
 * unchanged. Both may move it in memory, also on error.
 */
int varlink_buffer_append(struct varlink_buffer *buffer, const void *bytes, size_t length);

/* `length` is at most the buffer's. A buffer that becomes empty frees its memory. */
void varlink_buffer_consume(struct varlink_buffer *buffer, size_t length);

void varlink_buffer_done(struct varlink_buffer *buffer);

static inline char *varlink_buffer_data(const struct varlink_buffer *buffer)
{
	return buffer->bytes + buffer->start;
}

static inline char *varlink_buffer_end(const struct varlink_buffer *buffer)
{
	return varlink_buffer_data(buffer) + buffer->length;
}

#endif
