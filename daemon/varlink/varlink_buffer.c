// SPDX-License-Identifier: GPL-2.0
#include "varlink/varlink_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int varlink_buffer_reserve(struct varlink_buffer *buffer, size_t more)
{
	size_t needed, capacity;
	char *bytes;

	if (__builtin_add_overflow(buffer->length, more, &needed))
		return -ENOMEM;
	if (buffer->start > 0 && needed > buffer->capacity - buffer->start) {
		memmove(buffer->bytes, varlink_buffer_data(buffer), buffer->length);
		buffer->start = 0;
	}
	if (needed <= buffer->capacity - buffer->start)
		return 0;
	/*
	 * Grows in steps, so that a long stream of small messages does not copy everything for each of them.
	 * The unused memory is at most one step.
	 */
	capacity = buffer->capacity < VARLINK_BUFFER_STEP ? 2 * buffer->capacity
							  : buffer->capacity + VARLINK_BUFFER_STEP;
	if (capacity < needed)
		capacity = needed;
	bytes = realloc(buffer->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	buffer->bytes = bytes;
	buffer->capacity = capacity;
	return 0;
}

int varlink_buffer_append(struct varlink_buffer *buffer, const void *bytes, size_t length)
{
	int r = varlink_buffer_reserve(buffer, length);

	if (r < 0)
		return r;
	memcpy(varlink_buffer_end(buffer), bytes, length);
	buffer->length += length;
	return 0;
}

void varlink_buffer_consume(struct varlink_buffer *buffer, size_t length)
{
	buffer->start += length;
	buffer->length -= length;
	if (buffer->length == 0)
		varlink_buffer_done(buffer);
}

void varlink_buffer_done(struct varlink_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct varlink_buffer){0};
}
