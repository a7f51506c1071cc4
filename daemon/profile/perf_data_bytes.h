// SPDX-License-Identifier: GPL-2.0
/* Bytes of a perf.data file as they are put together. What fails is remembered, and the rest then ignored. */
#ifndef PEBSD_PERF_DATA_BYTES_H
#define PEBSD_PERF_DATA_BYTES_H

#include <stddef.h>

#include "pebsd/types.h"

struct perf_data_bytes {
	u8 *bytes; /* the owner's to free */
	size_t size, capacity;
	int error; /* 0, -ENOMEM, -E2BIG */
};

void perf_data_put(struct perf_data_bytes *out, const void *bytes, size_t size);
void perf_data_put_u32(struct perf_data_bytes *out, u32 value);
void perf_data_put_u64(struct perf_data_bytes *out, u64 value);

/* A text with zeros behind it, one at least, up to a multiple of `alignment` bytes. */
void perf_data_put_padded(struct perf_data_bytes *out, const char *text, size_t alignment);

/* A text as the features have it: its length with padding, then it. */
void perf_data_put_string(struct perf_data_bytes *out, const char *text);

#endif
