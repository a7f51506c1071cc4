// SPDX-License-Identifier: GPL-2.0
#include "profile/perf_data_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/perf_data_write.h"

#define FIRST_BYTES      65536
#define STRING_ALIGNMENT 64 /* NAME_ALIGN in tools/perf/util/header.c */

static bool make_room(struct perf_data_bytes *out, size_t size)
{
	size_t capacity = out->capacity ? out->capacity : FIRST_BYTES;
	u8 *bytes;

	if (out->error)
		return false;
	if (size > PERF_DATA_BYTES_MAX - out->size) {
		out->error = -E2BIG;
		return false;
	}
	while (capacity - out->size < size)
		capacity *= 2;
	if (capacity == out->capacity)
		return true;
	bytes = realloc(out->bytes, capacity);
	if (!bytes) {
		out->error = -ENOMEM;
		return false;
	}
	out->bytes = bytes;
	out->capacity = capacity;
	return true;
}

void perf_data_put(struct perf_data_bytes *out, const void *bytes, size_t size)
{
	if (size == 0 || !make_room(out, size))
		return;
	memcpy(out->bytes + out->size, bytes, size);
	out->size += size;
}

void perf_data_put_u32(struct perf_data_bytes *out, u32 value)
{
	perf_data_put(out, &value, sizeof(value));
}

void perf_data_put_u64(struct perf_data_bytes *out, u64 value)
{
	perf_data_put(out, &value, sizeof(value));
}

void perf_data_put_padded(struct perf_data_bytes *out, const char *text, size_t alignment)
{
	static const char zeros[STRING_ALIGNMENT];
	size_t length = strlen(text);

	perf_data_put(out, text, length);
	perf_data_put(out, zeros, alignment - length % alignment);
}

void perf_data_put_string(struct perf_data_bytes *out, const char *text)
{
	size_t length = strlen(text);

	perf_data_put_u32(out, (u32)(length + STRING_ALIGNMENT - length % STRING_ALIGNMENT));
	perf_data_put_padded(out, text, STRING_ALIGNMENT);
}
