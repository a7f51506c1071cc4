// SPDX-License-Identifier: GPL-2.0
/*
 * A buffer in which the bytes of a perf.data file are assembled. The first error is stored, and later calls
 * then do nothing.
 */
#ifndef PEBSD_PERF_DATA_BYTES_H
#define PEBSD_PERF_DATA_BYTES_H

#include <stddef.h>

#include "pebsd/types.h"

struct perf_data_bytes {
	u8 *bytes; /* the owner frees it */
	size_t size, capacity;
	int error; /* 0, -ENOMEM, -E2BIG */
};

void perf_data_put(struct perf_data_bytes *out, const void *bytes, size_t size);
void perf_data_put_u32(struct perf_data_bytes *out, u32 value);
void perf_data_put_u64(struct perf_data_bytes *out, u64 value);

/* Writes a string followed by 1 or more zero bytes, up to a multiple of `alignment` bytes (at most 64). */
void perf_data_put_padded(struct perf_data_bytes *out, const char *text, size_t alignment);

/* Writes a string as the features store it: its padded length, then the padded string. */
void perf_data_put_string(struct perf_data_bytes *out, const char *text);

#endif
